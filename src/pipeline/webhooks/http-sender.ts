import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { guarded } from '../../platform/net/guarded.js';
import { HostRefused } from '../../platform/net/reach.js';
import { createWebhookTargets } from '../../tenancy/webhooks/webhook-targets.js';

/** Time limit for one delivery, from the look-up of the host to the status of the response, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** Outcome of one delivery, with the reason if the receiver did not accept it. */
export type Delivery =
  | { readonly isDelivered: true }
  | { readonly isDelivered: false; readonly isGone: boolean; readonly reason: string };

/** Sends one request. Never rejects. */
export type SendWebhook = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
) => Promise<Delivery>;

export interface SenderOptions {
  /** Non-public networks that may still be reached, even by `http`. */
  readonly allowedNetworks: readonly string[];
  readonly userAgent: string;
  /** Reports an exception that a response caused. It ends the delivery. */
  readonly onCaught: (error: unknown) => void;
}

/**
 * Creates the sender of webhooks. The address that was checked is the one that is used, and no redirect is
 * followed.
 */
export function createWebhookSender({ allowedNetworks, userAgent, onCaught }: SenderOptions): SendWebhook {
  const targets = createWebhookTargets(allowedNetworks);
  return async (text, headers, body, signal) => {
    const { lookupOf } = targets;
    const sent = { headers: { ...headers, 'user-agent': userAgent }, body };
    const answer = await postWebhook(new URL(text), sent, { lookupOf, signal, onCaught });
    if (typeof answer === 'string') return { isDelivered: false, isGone: false, reason: answer };
    if (answer >= 200 && answer < 300) return { isDelivered: true };
    return { isDelivered: false, isGone: answer === 410, reason: `the receiver answered ${answer}` };
  };
}

interface PostOptions extends Pick<SenderOptions, 'onCaught'> {
  /** Returns the look-up for the connection. @throws HostRefused */
  readonly lookupOf: (url: URL) => LookupFunction;
  readonly signal: AbortSignal;
}

/**
 * Sends a message once, and waits ten seconds for its answer. Never rejects.
 * @returns the status of the response, or why there is none, without any text that the receiver chose
 */
export async function postWebhook(
  url: URL,
  message: Message,
  { lookupOf, signal, onCaught }: PostOptions,
): Promise<number | string> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await statusOf(url, message, { lookup: lookupOf(url), signals: [signal, limit], onCaught });
  } catch (error) {
    return reasonOf(error, limit);
  }
}

interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface StatusOptions extends Pick<SenderOptions, 'onCaught'> {
  readonly lookup: LookupFunction;
  /** Each of them ends the request when it aborts. */
  readonly signals: readonly AbortSignal[];
}

/** Sends a request and reads nothing but the status of its response. Settles in every case. */
function statusOf(url: URL, { headers, body }: Message, { lookup, signals, onCaught }: StatusOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'http:' ? requestHttp : requestHttps;
    const request = send(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) },
      lookup,
      // A new connection: a shared one could lead to an address that was not checked.
      agent: false,
    });
    const end = (): void => {
      for (const signal of signals) signal.removeEventListener('abort', abort);
      // The body is not needed and could be endless.
      request.destroy();
    };
    const fail = (error: Error): void => {
      reject(error);
      end();
    };
    const answer = ({ statusCode = 0 }: IncomingMessage): void => {
      resolve(statusCode);
      end();
    };
    // Does not rely on events of the request, because after an upgrade, for example, there are none.
    const abort = (): void => fail(new Error('stopped'));
    for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
    request.on('response', guarded(answer, { end: fail, onCaught }));
    const refuseUpgrade = (response: IncomingMessage, socket: Duplex): void => {
      socket.destroy();
      answer(response);
    };
    request.on('upgrade', guarded(refuseUpgrade, { end: fail, onCaught }));
    request.on('error', fail);
    request.on('close', () => fail(new Error('the connection was closed')));
    if (signals.some((signal) => signal.aborted)) abort();
    else request.end(body);
  });
}

/** A short reason that contains nothing that the receiver chose. */
function reasonOf(error: unknown, limit: AbortSignal): string {
  if (limit.aborted) return `no response within ${TIMEOUT_MS / 1000} seconds`;
  if (error instanceof HostRefused) return error.message;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return `no connection (${code.slice(0, 60)})`;
}
