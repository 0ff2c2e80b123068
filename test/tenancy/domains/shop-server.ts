import type { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import { pem } from '../../support/pem.js';

const KEY = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const DAY_MS = 86_400_000;

/** A server of HTTPS on this machine, whose certificate is its own authority. */
export interface ShopServer {
  readonly port: number;
  /** PEM. */
  readonly ca: string;
  stop(): void;
}

export async function startShopServer(
  names: readonly string[],
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<ShopServer> {
  const keys = await crypto.subtle.generateKey(KEY, true, ['sign', 'verify']);
  const cert = pem('CERTIFICATE', new Uint8Array((await selfSigned(keys, names)).toSchema(true).toBER()));
  const key = pem('PRIVATE KEY', new Uint8Array(await crypto.subtle.exportKey('pkcs8', keys.privateKey)));
  const server = createServer({ key, cert }, answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    ca: cert,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function selfSigned(keys: webcrypto.CryptoKeyPair, names: readonly string[]): Promise<pkijs.Certificate> {
  const certificate = new pkijs.Certificate();
  certificate.version = 2;
  certificate.serialNumber = new asn1js.Integer({ value: 1 });
  for (const name of [certificate.subject, certificate.issuer])
    name.typesAndValues.push(
      new pkijs.AttributeTypeAndValue({ type: '2.5.4.3', value: new asn1js.Utf8String({ value: 'Shop' }) }),
    );
  certificate.notBefore.value = new Date(Date.now() - DAY_MS);
  certificate.notAfter.value = new Date(Date.now() + DAY_MS);
  const subject = new pkijs.GeneralNames({ names: names.map((value) => new pkijs.GeneralName({ type: 2, value })) });
  certificate.extensions = [
    new pkijs.Extension({ extnID: '2.5.29.17', extnValue: subject.toSchema().toBER() }),
    new pkijs.Extension({
      extnID: '2.5.29.19',
      critical: true,
      extnValue: new pkijs.BasicConstraints({ cA: true }).toSchema().toBER(),
    }),
  ];
  await certificate.subjectPublicKeyInfo.importKey(keys.publicKey);
  await certificate.sign(keys.privateKey, 'SHA-256');
  return certificate;
}
