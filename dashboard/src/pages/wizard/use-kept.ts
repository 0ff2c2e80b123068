import { useState } from 'react';
import { useUser } from '../../app-context.js';
import { keepTyped, readTyped, type Typed, type TypedValues } from './typed.js';

export interface Kept extends TypedValues {
  readonly isEmpty: boolean;
  set(change: Typed): void;
  /** Keeps the values under the site that was just added. */
  moveTo(siteId: string): void;
  forget(): void;
}

/**
 * What the user typed for a site, kept in this tab until it is published or the user signs out: the wizard can be left
 * and opened again, also by a reload. Another user of the tab has other values.
 * @param siteId the site, or null before it is added
 */
export function useKept(siteId: string | null): Kept {
  const { id: userId } = useUser();
  const [state, setState] = useState(() => ({ siteId, typed: readTyped(userId, siteId) }));
  const typed = state.siteId === siteId ? state.typed : readTyped(userId, siteId);
  const change = (next: Typed) => {
    keepTyped(userId, siteId, next);
    setState({ siteId, typed: next });
  };
  return {
    isEmpty: Object.keys(typed).length === 0,
    text: (name, otherwise) => {
      const value = typed[name];
      return typeof value === 'string' ? value : otherwise;
    },
    list: (name) => {
      const value = typed[name];
      return typeof value === 'object' ? value : null;
    },
    set: (changed) => change({ ...typed, ...changed }),
    moveTo: (site) => {
      keepTyped(userId, site, typed);
      keepTyped(userId, siteId, null);
    },
    forget: () => {
      keepTyped(userId, siteId, null);
      setState({ siteId, typed: {} });
    },
  };
}
