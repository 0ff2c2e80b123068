import { Resolver } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import * as z from 'zod';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { QualifiedStamps } from '../../../schemas/events/ledger-policy.js';
import { parseWitnessKey } from '../../../schemas/evidence/cosignature.js';
import { PlainName } from '../../../schemas/evidence/primitives.js';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { addressesOf } from '../net/addresses.js';
import { isLoopback, withoutBrackets } from '../net/reach.js';

/**
 * Schemas of single variables: they convert text from the environment to a value. Each message
 * completes a sentence.
 */

/** A whole number from `min` to `max`. */
export function integer(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}.`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .pipe(z.number({ error: message }).min(min, message).max(max, message));
}

/** A URL with one of the given schemes, unchanged. */
export function urlOf(schemes: readonly string[]) {
  return z
    .string()
    .refine(
      (text) => URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1)),
      `must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}.`,
    );
}

const POSTGRESQL = urlOf(['postgres', 'postgresql']);
const SESSION_ATTRIBUTES = [null, 'read-write', 'primary'];

/** A connection string of PostgreSQL: with one host, or with a list of hosts as for libpq. */
export const databaseUrl = z.string().superRefine((text, context) => {
  const addresses = addressesOf(text);
  const refuse = (message: string): void => context.addIssue({ code: 'custom', message });
  if (addresses.some((address) => !POSTGRESQL.safeParse(address).success))
    return refuse(
      'must be a URL that begins with postgres:// or postgresql://, like postgresql://user@host:5432/database. Several hosts are separated by commas: postgresql://user@a:5432,b:5432/database.',
    );
  const { searchParams } = new URL(addresses[0] ?? '');
  if (!SESSION_ATTRIBUTES.includes(searchParams.get('target_session_attrs')))
    refuse(
      'must have no other target_session_attrs than read-write: the service needs the server that accepts writes.',
    );
  if (searchParams.get('host')?.includes(','))
    refuse('must name several hosts before the database, not as `host`: postgresql://user@a:5432,b:5432/database.');
});

/** A connection string of EventStoreDB's client. With several servers it is not a URL. */
export const eventStoreUrl = z
  .string()
  .regex(/^esdb(\+discover)?:\/\/\S+$/, 'must be a URL that begins with esdb:// or esdb+discover://.');

/** URLs separated by commas, in order of preference. */
export const httpUrls = z
  .string()
  .transform((text) => listOf(text))
  .pipe(z.array(urlOf(['http', 'https'])).min(1, 'must name at least one URL.'));

/** Verifier keys of witnesses separated by commas (C2SP tlog-cosignature, types 0x04 and 0x06). */
export const witnessKeys = z
  .string()
  .transform((text) => listOf(text))
  .pipe(
    z
      .array(
        z.string().transform((line, context) => {
          const key = parseWitnessKey(line);
          if (key !== null) return key;
          context.addIssue({
            code: 'custom',
            message: 'must be verifier keys of type 0x04 or 0x06 (<name>+<id>+<key>).',
          });
          return z.NEVER;
        }),
      )
      .min(1, 'must name at least one key.')
      .refine(areDistinct, 'must not name a key twice.'),
  );

/** A name that certificates show. */
export const legalName = z
  .string()
  .refine(
    (text) => PlainName.safeParse(text).success,
    'must be one line of at most 300 characters, without control or invisible characters.',
  );

/** Authorities whose time stamps the operator states to be qualified, as JSON. */
export const qualifiedStamps = z.string().transform((text, context) => {
  const parsed = QualifiedStamps.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  context.addIssue({
    code: 'custom',
    message:
      'must be a JSON list of 1 to 16 objects like {"organization": "Example Trust GmbH", "trusted_list": "https://…"}: the organization of a root certificate, and a link with https.',
  });
  return z.NEVER;
});

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Scheme, host and port of the service as clients reach it, like `https://consent.example.org`,
 * without a trailing slash.
 */
export const publicOrigin = z
  .string()
  .refine(isOrigin, 'must be http:// or https:// and a host, without a path.')
  .transform((text) => new URL(text).origin);

/**
 * Contacts for security reports, separated by commas, the preferred one first (RFC 9116 §2.5.3).
 */
export const contactUris = z
  .string()
  .transform((text) => listOf(text))
  .pipe(
    z.array(
      z
        .string()
        .regex(
          /^(?:https:\/\/[^/?#@]+(?:[/?#].*)?|mailto:[^@]+@[^@]+|tel:\+[\d-]+)$/,
          'must be URIs that begin with mailto:, https:// or tel:+.',
        )
        .regex(/^[\w.~:/?#[\]@!$&'()*+;=%-]+$/, 'must be URIs (RFC 3986).'),
    ),
  );

/** How to reach a mail server (RFC 5321). */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** Whether TLS starts with the connection instead of STARTTLS. */
  readonly isTlsFromStart: boolean;
  /** Whether mails stay queued rather than being sent without TLS. */
  readonly demandsTls: boolean;
  readonly auth: { readonly user: string; readonly pass: string } | undefined;
}

const SMTP_MESSAGE =
  'must be smtp:// or smtps:// with a host, optionally with user:password@ (percent-encoded), a port and ?starttls=optional.';

/** The URL of a mail server. Without TLS, only a server on this machine is permitted, unless the URL says otherwise. */
export const smtpServer = z.string().transform((text, context): SmtpServer => {
  const server = smtpServerOf(text);
  if (server !== null) return server;
  context.addIssue({ code: 'custom', message: SMTP_MESSAGE });
  return z.NEVER;
});

function smtpServerOf(text: string): SmtpServer | null {
  if (!/^smtps?:\/\/[^/\s]+$/i.test(text) || !URL.canParse(text)) return null;
  const { protocol, hostname, port, username, password, search, hash } = new URL(text);
  if (hostname === '' || hash !== '' || !['', '?starttls=optional'].includes(search)) return null;
  const isTlsFromStart = protocol === 'smtps:';
  const [user, pass] = [percentDecoded(username), percentDecoded(password)];
  if (user === undefined || pass === undefined) return null;
  const host = withoutBrackets(hostname);
  return {
    host,
    port: port === '' ? (isTlsFromStart ? 465 : 587) : Number(port),
    isTlsFromStart,
    demandsTls: !isTlsFromStart && search === '' && !isLoopback(host),
    auth: user === '' ? undefined : { user, pass },
  };
}

/** @returns undefined if the encoding is wrong */
function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The sender of mails: `address` or `Name <address>`. */
export const mailSender = z
  .string()
  .max(400)
  .transform((text) => {
    const [, name = '', address = ''] = /^(?:([^<>\p{Cc}]{0,78})<)?([^<>\s\p{Cc}]+)>?$/u.exec(text) ?? [];
    return { name: name.trim(), address };
  })
  .pipe(z.object({ name: z.string(), address: z.email({ error: 'must be an e-mail address, or Name <address>.' }) }));

/** IP addresses and CIDR ranges separated by commas. */
export const networks = () =>
  z
    .string()
    .transform((text) => listOf(text))
    .pipe(z.array(z.string().refine(isNetwork, 'must be a list of IP addresses or CIDR ranges, separated by commas.')));

/**
 * IP addresses of DNS servers, separated by commas, each with a port unless it is 53: `192.0.2.53`,
 * `192.0.2.53:5353`, `[2001:db8::53]:5353`.
 */
export const dnsServers = z
  .string()
  .transform((text) => listOf(text))
  .pipe(
    z.array(
      z
        .string()
        .refine(
          isDnsServer,
          'must be IP addresses, separated by commas, optionally with a port: 192.0.2.53:5353 or [2001:db8::53]:5353.',
        ),
    ),
  );

/** 32 bytes as base64, base64url or hex. */
export const key256 = z
  .string()
  .transform((text) => decodeKey(text.trim()))
  .pipe(z.instanceof(Buffer, { error: 'must be exactly 32 bytes, as base64 or as 64 hexadecimal digits.' }));

/**
 * The origin line of checkpoints and name of the ledger's key (C2SP tlog-checkpoint, signed-note).
 */
export const ledgerOrigin = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._~:/-]{0,199}$/,
    'must have the form of a URL without scheme: letters, digits and . _ ~ : / - only.',
  );

/** A host name as it appears in a Host header, without port. */
export const hostName = z
  .string()
  .max(253)
  .regex(/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/, 'must be a host name without scheme, port or path.');

/** Name of an HTTP header (RFC 9110 §5.1). */
export const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'must be the name of a header.');

/** A secret sent as `Authorization: Bearer …` (RFC 6750 §2.1), too long to be guessed. */
export const bearerSecret = z
  .string()
  .regex(/^[A-Za-z0-9._~+/-]{32,200}=*$/, 'must be 32 to 200 of the characters A-Z a-z 0-9 . _ ~ + / -.');

/** SHA-256 digests in lower-case hex, separated by commas. An empty text has none. */
export const sha256Digests = z
  .string()
  .transform((text) => listOf(text))
  .pipe(z.array(z.string().regex(/^[0-9a-f]{64}$/, 'must be SHA-256 digests of 64 hexadecimal digits.')));

/** A fraction from 0 to 1. */
export const ratio = z
  .string()
  .regex(/^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/, 'must be a number from 0 to 1.')
  .transform(Number);

/**
 * `name=value` pairs separated by commas, with percent-encoded values: OpenTelemetry's format of
 * headers and attributes.
 * @returns a new schema each time, because a description is registered on the schema itself and two
 *   variables have this format
 */
export function namedValues() {
  return z
    .string()
    .transform((text) => decodePairs(listOf(text)))
    .pipe(
      z.record(z.string(), z.string(), { error: 'must be name=value pairs, separated by commas, percent-encoded.' }),
    );
}

/** @returns `undefined` if an item is not a pair or is encoded incorrectly */
function decodePairs(items: readonly string[]): Readonly<Record<string, string>> | undefined {
  const pairs: [string, string][] = [];
  for (const item of items) {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,100})\s*=\s*([!-~]{0,4000})$/.exec(item) ?? [];
    if (name === undefined || value === undefined) return undefined;
    try {
      pairs.push([name, decodeURIComponent(value)]);
    } catch {
      return undefined;
    }
  }
  return Object.fromEntries(pairs);
}

/** @returns the 32 bytes, or `undefined` for any other text */
export function decodeKey(text: string): Buffer | undefined {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  return key.length === 32 ? key : undefined;
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function areDistinct(keys: readonly VerifierKey[]): boolean {
  return new Set(keys.map(({ publicKey }) => toHex(publicKey))).size === keys.length;
}

function isOrigin(text: string): boolean {
  if (!/^https?:\/\/[^/?#@\\]+\/?$/i.test(text) || !URL.canParse(text)) return false;
  return new URL(text).pathname === '/';
}

function isDnsServer(text: string): boolean {
  try {
    new Resolver().setServers([text]);
    return true;
  } catch {
    return false;
  }
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  if (!/^\d{1,3}$/.test(prefix)) return false;
  try {
    new BlockList().addSubnet(address, Number(prefix), version === 4 ? 'ipv4' : 'ipv6');
    return true;
  } catch {
    return false;
  }
}
