// Reads what the event log holds. The server returns data as bytes, because the service appends
// binary events: their bytes are what hashes cover. See docs/eventstoredb.md.

/** The part of a recorded event that the service defines. */
export interface Recorded {
  readonly id: string;
  readonly streamId: string;
  readonly revision: bigint;
  readonly type: string;
  readonly data: unknown;
}

export interface ConsentEvent {
  readonly eventId: string;
  readonly siteId: string;
  readonly consentType: string;
  readonly decision: string;
  readonly createdAt: string;
}

/** Returns a consent; null for every other type, also for those of later releases. */
export function readConsent({ id, type, data }: Recorded): ConsentEvent | null {
  if (type !== 'ConsentRecorded.v1' || !(data instanceof Uint8Array)) return null;
  const body: { record: string } = JSON.parse(new TextDecoder().decode(data));
  const record: { site_id: string; consent_type: string; decision: string; created_at: string } = JSON.parse(
    body.record,
  );
  return {
    eventId: id,
    siteId: record.site_id,
    consentType: record.consent_type,
    decision: record.decision,
    createdAt: record.created_at,
  };
}

/** Returns the id of the record that an erasure names; null for every other type. */
export function readErasedId({ type, data }: Recorded): string | null {
  if (type !== 'SubjectErased.v1' || !(data instanceof Uint8Array)) return null;
  const body: { record: string } = JSON.parse(new TextDecoder().decode(data));
  const record: { erased_event_id: string } = JSON.parse(body.record);
  return record.erased_event_id;
}
