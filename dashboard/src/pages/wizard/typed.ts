/** What was typed and chosen in the wizard, by the names of its fields. */
export type Typed = Readonly<Record<string, string | readonly string[]>>;

export interface TypedValues {
  /** @param otherwise what counts until something was typed */
  text(name: string, otherwise: string): string;
  /** The chosen values of a list, or null if nothing was chosen yet. */
  list(name: string): readonly string[] | null;
}

const PREFIX = 'consent-ledger-panel:wizard:';

/** The kept values of a text, without what this version does not know. */
export function typedIn(text: string | null): Typed {
  try {
    const values: unknown = JSON.parse(text ?? '{}');
    if (typeof values !== 'object' || values === null) return {};
    const entries = Object.entries(values).flatMap(
      ([name, value]: [string, unknown]): (readonly [string, string | readonly string[]])[] => {
        if (typeof value === 'string') return [[name, value]];
        if (Array.isArray(value)) return [[name, value.filter((one) => typeof one === 'string')]];
        return [];
      },
    );
    return Object.fromEntries(entries);
  } catch {
    return {};
  }
}

/** @param siteId the site, or null before it is added */
function keyOf(userId: string, siteId: string | null): string {
  return `${PREFIX}${userId}:${siteId ?? 'new'}`;
}

export function readTyped(userId: string, siteId: string | null): Typed {
  return typedIn(sessionStorage.getItem(keyOf(userId, siteId)));
}

/** @param typed null removes it */
export function keepTyped(userId: string, siteId: string | null, typed: Typed | null): void {
  const key = keyOf(userId, siteId);
  if (typed === null) sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, JSON.stringify(typed));
}

/** Removes what users of this tab typed. */
export function forgetTyped(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
}
