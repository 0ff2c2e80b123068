import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseWitnessKey } from '../../../schemas/evidence/cosignature.js';
import { submitCheckpoint, WitnessFailure } from '../../../src/pipeline/cosigner/submit-checkpoint.js';
import { createWebhookSender } from '../../../src/pipeline/webhooks/http-sender.js';
import { createTimestampClient } from '../../../src/timestamping/client.js';
import { HttpFailure } from '../../../src/timestamping/http.js';
import { AnswerCache, gatherRevocation } from '../../../src/timestamping/revocation.js';
import { TimestampUnavailable } from '../../../src/timestamping/stamping.js';
import { makeAuthority } from '../../rfc3161/support/authority.js';
import { crlDistributionPoint, TSA_EXTENSIONS } from '../../rfc3161/support/certificates.js';
import { makeCrl } from '../../rfc3161/support/revocation.js';
import { DATA, makeResponse, makeToken } from '../../rfc3161/support/tokens.js';
import {
  endsOfProcess,
  type HostileServer,
  hostileAnswers,
  knownAnswers,
  startHostileServer,
  type ValidAnswer,
} from '../../support/hostile-answers.js';
import { cosignatureLine, noteKey, signedNote } from '../../support/independent-tlog.js';
import { sampled } from '../../support/sweeps.js';

/** Ends what hangs. */
const TIMEOUT_MS = 60_000;
const NEVER = new AbortController().signal;

let server: HostileServer;
beforeAll(async () => {
  server = await startHostileServer();
});
afterAll(() => server.close());

/** A client of the service that asks a server of others. */
interface Client {
  readonly valid: ValidAnswer;
  /** @returns whether the answer was of use @throws an error other than its stated failures */
  readonly ask: (url: string) => Promise<boolean>;
}

/** @param failures with which the client may reject */
async function settled(asking: Promise<boolean>, ...failures: readonly (new (...values: never) => Error)[]) {
  return asking.catch((error: unknown) => {
    if (failures.some((failure) => error instanceof failure)) return false;
    throw error;
  });
}

function webhookClient(): Client {
  const send = createWebhookSender({
    allowedNetworks: ['127.0.0.0/8'],
    userAgent: 'test',
    onCaught: () => {
      throw new Error('a listener threw');
    },
  });
  return {
    valid: { status: 200, contentType: 'application/json', body: '{"ok":true}' },
    ask: async (url) => (await send(url, {}, '{}', NEVER)).isDelivered,
  };
}

/** Its answer has the nonce of another request, so that it is never of use. */
function timestampClient(): Client {
  const { root, tsa } = makeAuthority();
  const body = makeResponse(makeToken(tsa, {}));
  return {
    valid: { status: 200, contentType: 'application/timestamp-reply', body },
    ask: async (url) => {
      const client = createTimestampClient({ authorities: [url], trustAnchors: [root.der], timeoutMs: TIMEOUT_MS });
      const stamped = client.stamp(DATA).then(() => true);
      return settled(stamped, TimestampUnavailable);
    },
  };
}

function revocationClient(): Client {
  const now = Date.now();
  const times = { thisUpdate: new Date(now - 5_000), nextUpdate: new Date(now + 86_400_000) };
  const extensions = [...TSA_EXTENSIONS, crlDistributionPoint(`http://127.0.0.1:${server.port}/crl`)];
  const { root, tsa } = makeAuthority(undefined, { extensions });
  return {
    valid: { status: 200, contentType: 'application/pkix-crl', body: makeCrl(root, times) },
    ask: async () => {
      const cache = new AnswerCache(0, 0);
      const context = { fetch, clock: () => new Date(), cache, timeoutMs: TIMEOUT_MS };
      return (await gatherRevocation([tsa.der, root.der], context)).crls.length > 0;
    },
  };
}

function witnessClient(): Client {
  const text = `ledger.example\n1\n${Buffer.alloc(32).toString('base64')}\n`;
  const note = signedNote(text, noteKey('ledger.example'));
  const key = noteKey('witness.example', 4);
  const parsed = parseWitnessKey(key.vkey);
  if (parsed === null) throw new Error('not a key of a witness');
  const body = cosignatureLine(key, text, Math.floor(Date.now() / 1000));
  return {
    valid: { status: 200, contentType: 'text/plain', body },
    ask: async (url) => {
      const witness = { url, name: parsed.name, keys: [parsed], fetch, timeoutMs: TIMEOUT_MS, now: () => new Date() };
      const asking = submitCheckpoint(witness, { size: 1, note }, { oldSize: 0, proof: [] }, NEVER);
      return settled(
        asking.then(({ outcome }) => outcome === 'cosigned'),
        WitnessFailure,
        HttpFailure,
      );
    },
  };
}

test.each([
  ['receiver of webhooks', webhookClient, true],
  ['time stamp authority', timestampClient, false],
  ['server of revocation lists', revocationClient, true],
  ['witness', witnessClient, true],
] as const)('no answer of a %s ends the process of its client, or keeps it waiting', async (name, create, hasUse) => {
  const { valid, ask } = create();
  let used = 0;
  const wrong: string[] = [];
  const cases = [
    ...knownAnswers(valid),
    ...sampled('answers of hostile servers', hostileAnswers(valid, `${process.env.TEST_SEED}`), name),
  ];
  const ends = await endsOfProcess(cases, async (answer) => {
    server.say(answer);
    try {
      if (await ask(`http://127.0.0.1:${server.port}/`)) used += 1;
    } catch (error) {
      wrong.push(`${answer.name}: ${error}`);
    }
  });
  expect({ ends, wrong }).toEqual({ ends: [], wrong: [] });
  // The grammar made them from an answer that is valid.
  expect(used > 0).toBe(hasUse);
});
