import { CONSENT_RECORDED } from '../../../schemas/events/consent-recorded.js';
import { isSealedEventType, type SealedEventType } from '../../../schemas/events/sealed-event.js';
import { consentsStream, noticesStream, siteOfStream } from '../../../schemas/events/streams.js';
import { SUBJECT_ERASED } from '../../../schemas/events/subject-erased.js';
import type { Entry } from '../../../schemas/evidence/entry.js';

/** What every record states of itself. */
export interface CommonFields {
  readonly event_id: string;
  readonly site_id: string;
}

/**
 * Whether an entry stands where it belongs.
 * @param site the site that the manifest names; null if there is no manifest
 * @param fields null where the record could not be read
 * @returns null if it does, else why not
 */
export function streamProblem(entry: Entry, fields: CommonFields | null, site: string | null): string | null {
  const streamSite = siteOfStream(entry.stream);
  if (streamSite === null) return 'its stream is no stream of a site';
  if (site !== null && streamSite !== site) return 'its stream is of another site than the manifest names';
  if (isSealedEventType(entry.type) && entry.stream !== streamFor(entry.type, streamSite))
    return `events of type ${entry.type} do not belong in this stream`;
  if (fields === null) return null;
  if (fields.site_id !== streamSite) return 'its record names another site than its stream';
  if (fields.event_id !== entry.event_id) return 'its record names another event than the entry';
  return null;
}

function streamFor(type: SealedEventType, site: string): string {
  return type === CONSENT_RECORDED || type === SUBJECT_ERASED ? consentsStream(site) : noticesStream(site);
}
