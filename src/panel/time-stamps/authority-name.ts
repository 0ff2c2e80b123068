/** A time-stamp authority as people are shown it: its host. The rest of a configured URL may hold a secret. */
export function authorityName(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'unknown';
}
