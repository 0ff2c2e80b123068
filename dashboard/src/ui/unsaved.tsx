import { createContext, useContext, useEffect, useRef } from 'react';

/** A page or a dialog, and the forms in it that may hold what their user would lose. */
export class UnsavedScope {
  readonly #forms = new Set<() => boolean>();

  /** @param outer the scope around this one, which holds the same forms */
  constructor(private readonly outer: UnsavedScope | null = null) {}

  /** Whether something would be lost now. */
  holdsText(): boolean {
    return [...this.#forms].some((isUnsaved) => isUnsaved());
  }

  /** @returns a function that takes the form out */
  add(isUnsaved: () => boolean): () => void {
    const leaveOuter = this.outer?.add(isUnsaved);
    this.#forms.add(isUnsaved);
    return () => {
      this.#forms.delete(isUnsaved);
      leaveOuter?.();
    };
  }
}

/** Null outside of the pages that ask before they are left. */
export const UnsavedContext = createContext<UnsavedScope | null>(null);

/**
 * Lets the page, and the dialog around the component, ask before they are left.
 * @param isUnsaved whether something that was typed is not saved; it is asked when the user leaves
 */
export function useUnsaved(isUnsaved: () => boolean): void {
  const scope = useContext(UnsavedContext);
  const newest = useRef(isUnsaved);
  useEffect(() => {
    newest.current = isUnsaved;
  });
  useEffect(() => scope?.add(() => newest.current()), [scope]);
}
