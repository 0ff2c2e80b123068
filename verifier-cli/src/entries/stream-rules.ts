import * as z from 'zod';
import {
  hasTag,
  isOfPolicyStream,
  isSealedEventType,
  type SealedEventType,
} from '../../../schemas/events/sealed-event.js';
import { consentsStream, noticesStream, POLICY_STREAM, siteOfStream } from '../../../schemas/events/streams.js';
import { Instant, Uuid } from '../../../schemas/evidence/primitives.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { matchShape } from '../files/parse.js';
import { type Finding, finding } from '../findings/finding.js';
import type { EntryMembers } from '../versions/schemes.js';

const CommonFields = z.looseObject({ event_id: Uuid, site_id: Uuid.optional(), created_at: Instant });

/** Members that records of all types have in common. Some types have no `site_id`. */
export type CommonFields = Pick<z.infer<typeof CommonFields>, 'event_id' | 'site_id' | 'created_at'>;

/** @returns null if the record lacks one of them */
export function commonFieldsOf(record: JsonValue): CommonFields | null {
  const common = matchShape(CommonFields, record);
  return common.ok ? common.value : null;
}

/**
 * Checks that an entry is in the stream of its site and type.
 * @param site the site that the manifest names, or null if there is no manifest
 * @param fields the members, or null if the record could not be read
 * @returns null if the entry is in that stream; otherwise why it is not
 */
export function streamProblem(entry: EntryMembers, fields: CommonFields | null, site: string | null): Finding | null {
  const streamSite = siteOfStream(entry.stream);
  if (streamSite === null && entry.stream !== POLICY_STREAM) return finding('stream-of-no-site');
  if (streamSite !== null && site !== null && streamSite !== site) return finding('stream-of-other-site');
  if (isSealedEventType(entry.type) && entry.stream !== streamFor(entry.type, streamSite))
    return finding('type-misplaced', { type: entry.type });
  if (fields === null) return null;
  if ((fields.site_id ?? null) !== streamSite) return finding('record-of-other-site');
  if (fields.event_id !== entry.event_id) return finding('record-of-other-event');
  return null;
}

function streamFor(type: SealedEventType, site: string | null): string | null {
  if (isOfPolicyStream(type)) return POLICY_STREAM;
  if (site === null) return null;
  return hasTag(type) ? consentsStream(site) : noticesStream(site);
}
