// The visitors of try.sh: sends consents through the proxy, 5 a second, until SIGTERM. A request that is
// not answered with 202 is repeated with the same idempotency key, for six minutes. Prints what the
// visitors saw as one line of JSON, and then the token of each accepted consent.
//   PROXY=172.31.240.2 CA_FILE=root.crt API_KEY=svc_live_… VERSION_ID=… node try-client.mjs
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

const { PROXY: host, CA_FILE, API_KEY: key, VERSION_ID } = process.env;
const ca = readFileSync(CA_FILE);
const path = '/tool/v1/consents';
const PERIOD_MS = 200;
const AGAIN_MS = 500;
/** A backend waits no longer for an answer. */
const ANSWER_MS = 15_000;
const GIVE_UP_MS = 360_000;

const tokens = [];

/** Sends one consent. @returns the status, or the code of the failure */
function send(body) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = randomUUID();
  const digest = createHash('sha256').update(body).digest('hex');
  const headers = {
    host: 'localhost',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-api-key': key,
    'x-timestamp': timestamp,
    'x-nonce': nonce,
    'x-signature': createHmac('sha256', key).update(['POST', path, timestamp, nonce, digest].join('\n')).digest('hex'),
    // A visitor may claim any address: the proxy has to replace it.
    'x-forwarded-for': '203.0.113.7',
  };
  return new Promise((resolve) => {
    const options = { host, port: 443, servername: 'localhost', ca, path, method: 'POST', headers, agent: false };
    const sent = request({ ...options, timeout: ANSWER_MS }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('error', (error) => resolve(error.code ?? error.message));
      answer.on('end', () => {
        if (answer.statusCode === 202) tokens.push(JSON.parse(Buffer.concat(chunks)).data.consent_token);
        resolve(String(answer.statusCode));
      });
    });
    sent.on('timeout', () => sent.destroy(Object.assign(new Error('no answer'), { code: 'NO_ANSWER' })));
    sent.on('error', (error) => resolve(error.code ?? error.message));
    sent.end(body);
  });
}

const answers = {};
let [accepted, slowestMs, longestPauseMs, lastAcceptedAt] = [0, 0, 0, Date.now()];

async function record() {
  const consent = { consent_type: 'cookie', decision: 'accepted', document_version_id: VERSION_ID, visitor_id: 'try' };
  const body = JSON.stringify({ ...consent, idempotency_key: randomUUID() });
  for (const end = Date.now() + GIVE_UP_MS; Date.now() < end; await sleep(AGAIN_MS)) {
    const sentAt = Date.now();
    const answer = await send(body);
    const now = Date.now();
    answers[answer] = (answers[answer] ?? 0) + 1;
    slowestMs = Math.max(slowestMs, now - sentAt);
    if (answer !== '202') continue;
    accepted += 1;
    longestPauseMs = Math.max(longestPauseMs, now - lastAcceptedAt);
    lastAcceptedAt = now;
    return;
  }
}

let stopped = false;
process.on('SIGTERM', () => {
  stopped = true;
});
const sent = [];
for (let due = Date.now(); !stopped; due += PERIOD_MS) {
  await sleep(Math.max(0, due - Date.now()));
  sent.push(record());
}
await Promise.all(sent);
console.log(JSON.stringify({ sent: sent.length, accepted, answers, slowestMs, longestPauseMs }));
for (const token of tokens) console.log(token);
