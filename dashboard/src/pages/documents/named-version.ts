/** Reads which version an address names. A value that is not valid is ignored. */
export function namedVersionOf(search: Readonly<Record<string, unknown>>): { readonly version?: string | undefined } {
  return { version: typeof search.version === 'string' ? search.version : undefined };
}
