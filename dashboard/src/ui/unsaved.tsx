import { createContext, useContext, useEffect, useRef } from 'react';

/**
 * What a user would lose: what the service shows once, what was typed and not saved, or what was typed and is kept in
 * the tab, which is lost with the tab or the sign-in alone. The worst comes first.
 */
const LOSABLE = ['shown-once', 'typed', 'kept-in-tab'] as const;
export type Losable = (typeof LOSABLE)[number];

/** A page or a dialog, and the forms and dialogs in it that may hold what their user would lose. */
export class UnsavedScope {
  readonly #holders = new Set<() => Losable | null>();

  /** @param outer the scope around this one, which holds the same */
  constructor(private readonly outer: UnsavedScope | null = null) {}

  /** What would be lost now, what nobody can enter again first; null for nothing. */
  held(): Losable | null {
    const all = [...this.#holders].map((held) => held());
    return LOSABLE.find((one) => all.includes(one)) ?? null;
  }

  /** @returns a function that takes the holder out */
  add(held: () => Losable | null): () => void {
    const leaveOuter = this.outer?.add(held);
    this.#holders.add(held);
    return () => {
      this.#holders.delete(held);
      leaveOuter?.();
    };
  }
}

/** Null outside of the pages that ask before they are left. */
export const UnsavedContext = createContext<UnsavedScope | null>(null);

/**
 * Lets the page, and the dialog around the component, ask before they are left.
 * @param held what would be lost, or null; it is asked when the user leaves
 */
export function useUnsaved(held: () => Losable | null): void {
  const scope = useContext(UnsavedContext);
  const newest = useRef(held);
  useEffect(() => {
    newest.current = held;
  });
  useEffect(() => scope?.add(() => newest.current()), [scope]);
}
