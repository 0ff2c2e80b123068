import { Command, InvalidArgumentError } from 'commander';
import * as z from 'zod';
import { type TestEvent, TestEventsResponse } from '../../schemas/api/test-events.js';
import { postWebhook } from '../pipeline/webhooks/http-sender.js';
import { signedHeaders } from '../pipeline/webhooks/webhook-message.js';
import { BackOff, pause } from '../platform/background/waiting.js';
import { loopbackLookup, refuseUnlessLoopback } from '../platform/net/reach.js';
import { VERSION } from '../platform/version.js';
import { keyOfSecret, newWebhookSecret } from '../tenancy/webhooks/webhooks.js';
import { CommandError, EXIT, EXIT_CODES_HELP, signalled } from './command/command.js';
import type { CliContext } from './command/context.js';

const DEFAULT_SERVICE = 'http://127.0.0.1:8080';

const HELP = `
Environment:
  CONSENT_LEDGER_KEY   a test key (svc_test_...) with the restriction secret; required
  CONSENT_LEDGER_URL   address of the service, unless --service is given

The receiver gets the webhooks of what test keys record and erase from now on, each once, signed with a
secret that the command makes and prints.
`;

/** `listen`: forwards the webhooks of test records to a receiver on this machine. It needs no database. */
export function listenCommand({ env, stdout }: CliContext): Command {
  return new Command('listen')
    .description('send the webhooks of test records to a receiver on this machine, until Ctrl-C')
    .requiredOption('--forward-to <url>', 'the receiver, such as http://localhost:3000/hook', webAddress)
    .option(
      '--service <url>',
      `address of the service (default: CONSENT_LEDGER_URL, or ${DEFAULT_SERVICE})`,
      webAddress,
    )
    .addHelpText('after', HELP + EXIT_CODES_HELP)
    .action(async ({ forwardTo, service }: { readonly forwardTo: URL; readonly service?: URL }) => {
      const { CONSENT_LEDGER_KEY: apiKey = '', CONSENT_LEDGER_URL: address = DEFAULT_SERVICE } = env;
      // This is checked before any request, so that a live key is not sent to a mistyped address.
      if (!apiKey.startsWith('svc_test_'))
        throw new CommandError(
          'Set CONSENT_LEDGER_KEY to a test key (svc_test_...) with the restriction secret.',
          EXIT.usage,
        );
      await refuseUnlessLoopback(forwardTo).catch(() => {
        throw new CommandError(
          `--forward-to must lead to this machine, as http://localhost:3000/hook does, and ${forwardTo.host} does not. For a public address, create a webhook of the site.`,
        );
      });
      const stop = new AbortController();
      void signalled().then(() => stop.abort());
      await forwardTestEvents({
        service: service ?? serviceIn(address),
        apiKey,
        forwardTo,
        secret: newWebhookSecret(),
        signal: stop.signal,
        write: (line) => stdout.write(`${line}\n`),
        clock: Date.now,
        pause,
      });
      stdout.write('Stopped.\n');
    });
}

function serviceIn(address: string): URL {
  try {
    return webAddress(address);
  } catch {
    throw new CommandError(
      `CONSENT_LEDGER_URL must be the address of the service, such as ${DEFAULT_SERVICE}.`,
      EXIT.usage,
    );
  }
}

/** @throws InvalidArgumentError */
function webAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('It must be a URL that begins with http:// or https://.');
  return url;
}

/** Time between two requests to the service, in milliseconds: at first, and while nothing happens. */
const POLL_MS = 1_000;
const IDLE_POLL_MS = 5_000;
/** Time limit for the response of the service, in milliseconds. */
const ANSWER_MS = 10_000;
const USER_AGENT = `consent-ledger/${VERSION}`;

export interface ForwardOptions {
  readonly service: URL;
  /** A test key with the restriction `secret`. */
  readonly apiKey: string;
  /** The receiver, which must be on this machine. */
  readonly forwardTo: URL;
  /** Secret of the signatures: `whsec_…`. */
  readonly secret: string;
  /** Ends the work. */
  readonly signal: AbortSignal;
  readonly write: (line: string) => void;
  /** @returns Unix milliseconds */
  readonly clock: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Sends the webhooks of test records from now on to a receiver on this machine, each once and in order, until the
 * signal ends the work. A receiver that is down misses them, as the output shows.
 * @throws CommandError if the service refuses the key, or does not answer at the beginning
 */
export async function forwardTestEvents(options: ForwardOptions): Promise<void> {
  const { service, forwardTo, secret, signal, write } = options;
  const first = await eventsAfter(options, null);
  if (signal.aborted) return;
  if ('problem' in first) throw new CommandError(first.problem);
  write(`Your webhook signing secret is ${secret}`);
  write(`Sending the webhooks of test records of ${service.origin} to ${forwardTo.href}. Stop with Ctrl-C.`);
  // The requests count against the rate limit of the tenant, which its backend also needs.
  const waits = new BackOff(POLL_MS, IDLE_POLL_MS);
  let waitMs = waits.next();
  let cursor = first.next_cursor;
  let told = '';
  for (;;) {
    await options.pause(waitMs, signal);
    if (signal.aborted) return;
    const answer = await eventsAfter(options, cursor);
    if (signal.aborted) return;
    waitMs = waits.next();
    if ('problem' in answer) {
      if (answer.isFinal) throw new CommandError(answer.problem);
      if (answer.problem !== told) write(`${answer.problem} Trying again.`);
      told = answer.problem;
      waitMs = Math.max(waitMs, answer.waitMs);
      continue;
    }
    told = '';
    for (const event of answer.data) await forward(options, event);
    if (answer.data.length > 0) {
      waits.reset();
      waitMs = waits.next();
    }
    cursor = answer.next_cursor;
  }
}

/** Sends one event, and writes the line about it. */
async function forward(
  { forwardTo, secret, signal, write, clock }: ForwardOptions,
  { id, type, body }: TestEvent,
): Promise<void> {
  if (signal.aborted) return;
  const begun = clock();
  const answer = await postWebhook(
    forwardTo,
    { headers: { ...signedHeaders(id, body, [keyOfSecret(secret)], begun), 'user-agent': USER_AGENT }, body },
    // An exception in a listener fails the request, and its line says so.
    { lookupOf: (url) => loopbackLookup(url), signal, onCaught: () => undefined },
  );
  if (signal.aborted) return;
  write([new Date(begun).toISOString(), type.padEnd(17), id, String(answer), `${clock() - begun} ms`].join('  '));
}

/** Why the service sent no events. */
interface Problem {
  readonly problem: string;
  /** Whether the next request would fail in the same way. */
  readonly isFinal: boolean;
  /** How long the service asks the program to wait, in milliseconds. */
  readonly waitMs: number;
}

const Refusal = z.object({ code: z.string(), message: z.string() });
const LONGEST_WAIT_SECONDS = 60;

async function eventsAfter(
  { service, apiKey, signal }: ForwardOptions,
  cursor: string | null,
): Promise<TestEventsResponse | Problem> {
  const path = `${service.pathname.replace(/\/$/, '')}/tool/v1/test-events`;
  const url = new URL(cursor === null ? path : `${path}?cursor=${encodeURIComponent(cursor)}`, service);
  try {
    const response = await fetch(url, {
      headers: { 'x-api-key': apiKey, 'user-agent': USER_AGENT, accept: 'application/json' },
      // A redirect must not carry the key to another server.
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    });
    const { status, headers } = response;
    const body = jsonOf(await response.text());
    const events = TestEventsResponse.safeParse(body);
    if (status === 200 && events.success) return events.data;
    const refusal = Refusal.safeParse(body);
    return {
      problem: refusal.success
        ? `${service.origin} answered ${refusal.data.code}: ${refusal.data.message}`
        : `${service.origin} answered ${status}, and not as Consent Ledger does. Check the address of the service.`,
      isFinal: status < 500 && status !== 408 && status !== 429,
      waitMs: Math.min(Number(headers.get('retry-after')) || 0, LONGEST_WAIT_SECONDS) * 1000,
    };
  } catch {
    return { problem: `${service.origin} does not answer.`, isFinal: false, waitMs: 0 };
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
