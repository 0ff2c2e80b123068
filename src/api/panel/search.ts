import type { NamedKind } from '../../../schemas/api/panel/named-things.js';
import { SearchRequest, SearchResponse } from '../../../schemas/api/panel/search.js';
import { identifierIn } from '../../../schemas/text/identifier-in.js';
import type { Role } from '../../accounts/users/user-directory.js';
import { findRecordPlace, parseIdentifier } from '../../evidence/verification/stored-record.js';
import type { Queryable } from '../../platform/database/pool.js';
import { OVERSEERS, PROTECTORS, READERS } from './caller.js';
import { route } from './deps.js';
import { thingsById } from './named-things.js';

/** The roles that may read the things of each kind, as the operations of the kind say. */
const SEEN_BY: Readonly<Partial<Record<NamedKind, readonly Role[]>>> = {
  api_key: READERS,
  consent: READERS,
  document: READERS,
  document_version: READERS,
  erasure: PROTECTORS,
  export: PROTECTORS,
  site: READERS,
  user: OVERSEERS,
  webhook: OVERSEERS,
};
const KINDS: readonly NamedKind[] = [
  'consent',
  'erasure',
  'export',
  'site',
  'document',
  'document_version',
  'api_key',
  'webhook',
  'user',
];

/** The look-up of what a person sends in, in every site of the tenant. */
export const SEARCH_OPERATIONS = [
  route({
    auth: 'panel',
    id: 'search',
    method: 'post',
    path: '/api/v1/search',
    tag: 'Search',
    summary: 'Find what a consent token, a proof hash or an id names, in every site of the tenant',
    description: 'Changes nothing. A person is searched for in one site, by `consents/search`.',
    roles: READERS,
    body: SearchRequest,
    example: { body: { text: 'ct_00000000000000000000000000000000' } },
    response: SearchResponse,
    handle: async ({ user, body }, { apiPool }) => {
      const id = await idNamedBy(apiPool, user.tenantId, body.text);
      const kinds = KINDS.filter((kind) => SEEN_BY[kind]?.includes(user.role));
      return { data: id === null ? [] : await thingsById(apiPool, user.tenantId, kinds, [id]) };
    },
  }),
];

/** The id that a text states or stands for, or null if it names nothing of the tenant. */
async function idNamedBy(db: Queryable, tenantId: string, text: string): Promise<string | null> {
  const identifier = parseIdentifier(identifierIn(text)?.text ?? '');
  if (identifier === null) return null;
  if ('eventId' in identifier) return identifier.eventId;
  return (await findRecordPlace(db, identifier, tenantId))?.event_id ?? null;
}
