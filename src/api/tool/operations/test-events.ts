import { NoBody, None } from '../../../../schemas/api/panel/common.js';
import { TestEventsQuery, TestEventsResponse } from '../../../../schemas/api/test-events.js';
import { SHOWN } from '../../server/example-values.js';
import { defineOperation } from '../../server/operation.js';
import { ANY_KEY } from '../access.js';

export const listTestEvents = defineOperation({
  id: 'listTestEvents',
  method: 'get',
  path: '/tool/v1/test-events',
  tag: 'Webhooks',
  summary: 'List the messages that webhooks would get of test records, for a secret test key',
  description:
    'A live key, and one that browsers may use, gets 403. `consent-ledger listen` sends these messages to the machine of a developer. They are of consents that test keys recorded, and of erasures by test keys, in their order. The first request has no `cursor` and gets no events; pass its `next_cursor` as `cursor` in the next one, and so on.',
  access: ANY_KEY,
  params: None,
  query: TestEventsQuery,
  body: NoBody,
  status: 200,
  response: TestEventsResponse,
  errors: ['LIVE_KEY_REFUSED', 'INSUFFICIENT_SCOPE'],
  example: {
    query: { cursor: 'djE6MA' },
    response: {
      data: [
        {
          id: `msg_${SHOWN.consentId}`,
          type: 'consent.withdrawn',
          body: `{"type":"consent.withdrawn","timestamp":"${SHOWN.createdAt}","data":{"event_id":"${SHOWN.consentId}"}}`,
        },
      ],
      next_cursor: 'djE6NDI',
      test: true,
    },
  },
  action: null,
});
