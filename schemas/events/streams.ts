/** The stream of batches, time stamp tokens and the first keys of the ledger. */
export const LEDGER_STREAM = 'ledger';

/** The stream of the ledger's policies and of its next keys. It belongs to no site. */
export const POLICY_STREAM = 'policy';

/** The stream of a site's consents and erasures. */
export function consentsStream(siteId: string): string {
  return `consents-${siteId}`;
}

/** The stream of a site's document versions and configurations. */
export function noticesStream(siteId: string): string {
  return `notices-${siteId}`;
}

/** The stream whose only event identifies the event log. */
export const LOG_IDENTITY_STREAM = 'log-identity';

/** The streams of the service that belong to no site. */
export const STREAMS_OF_NO_SITE: readonly string[] = [LEDGER_STREAM, POLICY_STREAM, LOG_IDENTITY_STREAM];

/** The names of the streams of sites. The first group is the site. Its source is also a regular expression of PostgreSQL. */
export const SITE_STREAM = /^(?:consents|notices)-([0-9a-f-]{36})$/;

/** Whether the service writes to a stream of this name. Every other stream belongs to another program. */
export function isOwnStream(stream: string): boolean {
  return STREAMS_OF_NO_SITE.includes(stream) || siteOfStream(stream) !== null;
}

/** Whether the events of a stream are sealed into batches. */
export function isSealedStream(stream: string): boolean {
  return stream === POLICY_STREAM || stream.startsWith('consents-') || stream.startsWith('notices-');
}

/** The site whose stream this is, or null for streams of no site. */
export function siteOfStream(stream: string): string | null {
  return SITE_STREAM.exec(stream)?.[1] ?? null;
}
