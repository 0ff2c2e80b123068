import { chmod, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as pkijs from 'pkijs';
import * as z from 'zod';
import { generateKeyPair, issueRoot, issueTsaCertificate, type KeyPair } from './certificates.js';

/** The keys and certificates of a development authority, and the port in its certificate. */
export interface Identity {
  readonly root: pkijs.Certificate;
  readonly rootKeys: KeyPair;
  readonly tsa: pkijs.Certificate;
  readonly tsaKeys: KeyPair;
  /** URL of the revocation list in the authority's certificate. */
  readonly crlUrl: string;
  readonly port: number;
}

const FILE = 'development-tsa.json';
const ROOT_FILE = 'development-tsa-root.pem';
const MINIMUM_VALIDITY_MS = 365 * 24 * 60 * 60 * 1000;

const storedIdentity = z.strictObject({
  root: z.base64(),
  rootKey: z.base64(),
  tsa: z.base64(),
  tsaKey: z.base64(),
  crlUrl: z.url(),
  port: z.int().min(1).max(65535),
});

/**
 * Reads the stored identity of a folder.
 * @returns undefined on the first start
 * @throws Error if the file is unreadable: a new root would invalidate every token under the old
 *   one
 */
export async function loadIdentity(folder: string): Promise<Identity | undefined> {
  const text = await readFile(join(folder, FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const stored = storedIdentity.parse(JSON.parse(text));
  const [root, tsa] = [certificateFrom(stored.root), certificateFrom(stored.tsa)];
  const [rootKeys, tsaKeys] = [await keysFrom(stored.rootKey, root), await keysFrom(stored.tsaKey, tsa)];
  return { root, rootKeys, tsa, tsaKeys, crlUrl: stored.crlUrl, port: stored.port };
}

/**
 * The identity to use. It is the stored one if its certificate names `crlUrl` and is valid for
 * another year. Otherwise it has a new certificate, and at the first start a new root. It is stored
 * before this function returns.
 */
export async function settleIdentity(
  folder: string,
  kept: Identity | undefined,
  crlUrl: string,
  port: number,
  organization: string | null,
  now: Date,
): Promise<Identity> {
  const isCurrent = kept?.crlUrl === crlUrl && kept.tsa.notAfter.value.getTime() - now.getTime() > MINIMUM_VALIDITY_MS;
  if (kept !== undefined && isCurrent) return kept;
  const rootKeys = kept?.rootKeys ?? (await generateKeyPair());
  const root = kept?.root ?? (await issueRoot(rootKeys, now, organization));
  const tsaKeys = kept?.tsaKeys ?? (await generateKeyPair());
  const tsa = await issueTsaCertificate(tsaKeys, root, rootKeys, crlUrl, now);
  const identity = { root, rootKeys, tsa, tsaKeys, crlUrl, port };
  await saveIdentity(folder, identity);
  return identity;
}

/** Writes the root certificate as PEM into the folder. @returns its path */
export async function writeRootPem(folder: string, { root }: Identity): Promise<string> {
  const path = join(folder, ROOT_FILE);
  await replaceFile(path, pem(root), 0o644);
  return path;
}

async function saveIdentity(folder: string, identity: Identity): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const stored = {
    root: base64(identity.root.toSchema(true).toBER()),
    rootKey: await keyText(identity.rootKeys),
    tsa: base64(identity.tsa.toSchema(true).toBER()),
    tsaKey: await keyText(identity.tsaKeys),
    crlUrl: identity.crlUrl,
    port: identity.port,
  };
  await replaceFile(join(folder, FILE), `${JSON.stringify(stored, undefined, 2)}\n`, 0o600);
}

/** Replaces a file atomically: a crash must not leave a partial key. */
async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  const temporary = `${path}.${process.pid}.new`;
  await writeFile(temporary, text, { mode });
  await chmod(temporary, mode);
  const file = await open(temporary, 'r');
  await file.sync();
  await file.close();
  await rename(temporary, path);
}

async function keyText(keys: KeyPair): Promise<string> {
  return base64(await crypto.subtle.exportKey('pkcs8', keys.privateKey));
}

async function keysFrom(pkcs8: string, certificate: pkijs.Certificate): Promise<KeyPair> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const privateKey = await crypto.subtle.importKey('pkcs8', Buffer.from(pkcs8, 'base64'), algorithm, true, ['sign']);
  const spki = certificate.subjectPublicKeyInfo.toSchema().toBER();
  const publicKey = await crypto.subtle.importKey('spki', spki, algorithm, true, ['verify']);
  return { privateKey, publicKey };
}

function certificateFrom(text: string): pkijs.Certificate {
  return pkijs.Certificate.fromBER(new Uint8Array(Buffer.from(text, 'base64')));
}

function pem(certificate: pkijs.Certificate): string {
  const lines = base64(certificate.toSchema(true).toBER()).match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function base64(bytes: ArrayBuffer): string {
  return Buffer.from(bytes).toString('base64');
}
