import { ApiError } from '../../../../schemas/api/error-codes.js';
import { IDENTIFIER_KINDS } from '../../../erasure/index.js';
import type { ConsentRow } from '../../../evidence/records/consent-row.js';
import { parseIdentifier } from '../../../evidence/verification/identifier.js';
import { blindIndex } from '../../../platform/keys/index.js';
import { verifiedRecord } from '../../tool/get-verify.js';
import type { PanelDeps } from '../deps.js';
import { changes, type PanelRoute, reads } from '../route.js';
import { discloseConsent as disclose } from './disclose.js';
import { discloseConsent, listConsents, readConsent, searchConsents, verifyConsent } from './operations.js';
import { type ConsentSearch, searchConsents as search } from './search.js';
import { findConsent, sealingOf, summaryOf } from './show-consents.js';

/** Consents are found by the read model, and shown as their records say. */
export function consentRoutes(deps: PanelDeps): readonly PanelRoute[] {
  const { apiPool, keyring, verifier } = deps;
  const page = async (wanted: ConsentSearch) => {
    const { rows, nextCursor } = await search(apiPool, wanted);
    const now = new Date();
    return { data: await Promise.all(rows.map((row) => summaryOf(row, keyring, now))), next_cursor: nextCursor };
  };
  const existing = async (params: { site_id: string; consent_id: string }): Promise<ConsentRow> => {
    const identifier = parseIdentifier(params.consent_id);
    const row =
      identifier !== null && 'eventId' in identifier
        ? await findConsent(apiPool, params.site_id, identifier.eventId)
        : null;
    if (row === null) throw new ApiError('RESOURCE_NOT_FOUND');
    return row;
  };
  return [
    reads(listConsents, ({ params, query }) => page({ siteId: params.site_id, filter: query, person: null })),
    changes(searchConsents, async ({ params: { site_id: siteId }, body: { person, ...filter } }) => {
      const kind = IDENTIFIER_KINDS[person.by];
      const index = blindIndex(await keyring.siteKey(siteId), kind, person.value);
      const response = await page({ siteId, filter, person: { kind, index } });
      return {
        response,
        subject: { kind: 'site', id: siteId },
        details: { by: person.by, shown: response.data.length },
      };
    }),
    reads(readConsent, async ({ params }) => {
      const row = await existing(params);
      const summary = await summaryOf(row, keyring, new Date());
      return { data: { ...summary, stream: row.stream, revision: row.revision, sealing: sealingOf(row) } };
    }),
    reads(verifyConsent, async ({ user, params }) => {
      const row = await existing(params);
      const found = await verifier.verify({ eventId: row.event_id }, user.tenantId);
      if (found === null) throw new ApiError('RESOURCE_NOT_FOUND');
      const { timestamp } = found;
      return {
        data: {
          id: row.event_id,
          valid: found.valid,
          ...verifiedRecord(found),
          site_domain: found.siteDomain,
          timestamp: timestamp && { time: timestamp.time.toISOString(), checkpoint_size: timestamp.checkpointSize },
          sealing: sealingOf(row),
        },
      };
    }),
    changes(discloseConsent, async ({ params, body: { fields } }) => {
      const row = await existing(params);
      return {
        response: { data: await disclose(deps, row, fields) },
        subject: { kind: 'consent', id: row.event_id },
        details: { site_id: row.site_id, fields },
      };
    }),
  ];
}
