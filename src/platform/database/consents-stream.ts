/**
 * Returns the SQL of `consentsStream` (`schemas/events/streams.ts`).
 * @param siteId SQL of a site's id
 */
export function consentsStreamSql(siteId: string): string {
  return `('consents-' || ${siteId})`;
}
