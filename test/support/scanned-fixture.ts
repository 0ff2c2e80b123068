import { sha256Hex } from '../../schemas/crypto/digest.js';
import { SITE_SCANNED, type SiteScannedRecord } from '../../schemas/events/site-scanned.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import type { JsonObject } from '../../schemas/json/json-value.js';
import { scanRecord } from '../../src/tenancy/scans/record-scan.js';
import { scanResult } from '../tenancy/scans/scan-result.js';
import { configuration, type FixtureEvent, fixtureUuid, minute, notice } from './ledger-fixture-events.js';
import type { PackageHooks } from './package-builder.js';

/** A recorded scan of the fixture's site, compared with its configuration. */
export function scanEvent(label: string, minutes: number, change: JsonObject = {}): FixtureEvent {
  const siteId = fixtureUuid('site');
  const time = minute(minutes).toISOString();
  const head = { v: 1, event_id: fixtureUuid(label), site_id: siteId, created_at: time } as const;
  const record: SiteScannedRecord = scanRecord(
    head,
    scanResult(siteId, {
      started_at: time,
      ended_at: time,
      site_config_hash: sha256Hex(canonicalJson(configuration())),
    }),
  );
  return notice(label, SITE_SCANNED, { ...record, ...change });
}

/** A package with these scans in its last batch. */
export function withScans(...scans: readonly FixtureEvent[]): PackageHooks {
  return {
    world: ({ batches }) => void batches[4]?.push(...scans),
  };
}
