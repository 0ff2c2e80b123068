import { execFile, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether the `openssl` command exists. Tests that compare with it are skipped otherwise. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

/** Arguments of `openssl genpkey` for each kind of key that `openssl ts` signs with. */
export const OPENSSL_KEYS = {
  'RSA-2048': ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'],
  'P-256': ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  'P-384': ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-384'],
  'P-521': ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-521'],
} as const;

/**
 * A responder based on `openssl ts -reply`, with a root, an intermediate, a CRL of each and a
 * delegated OCSP responder.
 */
export interface OpensslTsa {
  readonly url: string;
  readonly folder: string;
  /** DER. */
  readonly root: Uint8Array;
  readonly intermediate: Uint8Array;
  readonly rootPemPath: string;
  readonly intermediatePemPath: string;
  /** Revokes the certificate of the authority, from now on. */
  revoke(reason: 'superseded' | 'keyCompromise'): Promise<void>;
  stop(): Promise<void>;
}

const configuration = (folder: string, url: string, embedChain: boolean) => `
[ca]
default_ca = intermediate
[root]
database = ${folder}/root.txt
certificate = ${folder}/root.pem
private_key = ${folder}/root.key
default_md = sha256
default_crl_days = 1
[intermediate]
database = ${folder}/intermediate.txt
certificate = ${folder}/intermediate.pem
private_key = ${folder}/intermediate.key
default_md = sha256
default_crl_days = 1
[req]
distinguished_name = dn
[dn]
[root_ext]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[intermediate_ext]
basicConstraints = critical,CA:TRUE,pathlen:0
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
crlDistributionPoints = URI:${url}root.crl
[tsa_ext]
extendedKeyUsage = critical,timeStamping
keyUsage = critical,digitalSignature
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
crlDistributionPoints = URI:${url}intermediate.crl
authorityInfoAccess = OCSP;URI:${url}ocsp
[ocsp_ext]
extendedKeyUsage = OCSPSigning
keyUsage = critical,digitalSignature
noCheck = ignored
[tsa]
default_tsa = responder
[responder]
serial = ${folder}/serial
signer_cert = ${folder}/tsa.pem
signer_key = ${folder}/tsa.key
${embedChain ? `certs = ${folder}/intermediate.pem` : ''}
signer_digest = sha256
default_policy = 1.3.6.1.4.1.4146.2.3
other_policies = 1.3.6.1.4.1.4146.2.4
digests = sha1, sha256, sha384, sha512
accuracy = secs:1
clock_precision_digits = 6
ordering = no
tsa_name = yes
ess_cert_id_chain = no
ess_cert_id_alg = sha256
`;

/**
 * Starts a responder on a free port of 127.0.0.1.
 * @param options.embedChain whether tokens contain the intermediate's certificate
 */
export async function startOpensslTsa(options: {
  readonly key: keyof typeof OPENSSL_KEYS;
  readonly embedChain?: boolean;
}): Promise<OpensslTsa> {
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-openssl-tsa-'));
  const file = (name: string) => join(folder, name);
  const openssl = (...args: readonly string[]) => run('openssl', [...args], { cwd: folder });
  let turn: Promise<unknown> = Promise.resolve();

  const reply = async (query: Uint8Array): Promise<Uint8Array> => {
    await writeFile(file('query.tsq'), query);
    await openssl('ts', '-reply', '-config', 'tsa.cnf', '-queryfile', 'query.tsq', '-out', 'reply.tsr');
    return readFile(file('reply.tsr'));
  };
  const crl = async (issuer: string): Promise<Uint8Array> => {
    await openssl('ca', '-config', 'tsa.cnf', '-name', issuer, '-gencrl', '-out', `${issuer}.crl.pem`);
    await openssl('crl', '-in', `${issuer}.crl.pem`, '-outform', 'DER', '-out', `${issuer}.crl`);
    return readFile(file(`${issuer}.crl`));
  };
  const ocsp = async (request: Uint8Array): Promise<Uint8Array> => {
    await writeFile(file('ocsp.req'), request);
    const signer = ['-rsigner', 'ocsp.pem', '-rkey', 'ocsp.key', '-CA', 'intermediate.pem', '-nmin', '60'];
    const files = ['-index', 'intermediate.txt', '-reqin', 'ocsp.req', '-respout', 'ocsp.resp'];
    await openssl('ocsp', ...files, ...signer);
    return readFile(file('ocsp.resp'));
  };
  const server = createServer((request, response) => {
    // Requests are serialized, because openssl stores its serial number in a file.
    turn = turn.then(async () => {
      try {
        const body = await readBody(request);
        const issuer = /^\/(root|intermediate)\.crl$/.exec(request.url ?? '')?.[1];
        const [type, answer] =
          issuer !== undefined
            ? ['application/pkix-crl', await crl(issuer)]
            : request.url === '/ocsp'
              ? ['application/ocsp-response', await ocsp(body)]
              : ['application/timestamp-reply', await reply(body)];
        response.writeHead(200, { 'content-type': type }).end(answer);
      } catch (error) {
        response.writeHead(500).end(String(error));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = `http://127.0.0.1:${address.port}/`;

  await mkdir(folder, { recursive: true });
  await writeFile(file('tsa.cnf'), configuration(folder, url, options.embedChain ?? true));
  for (const database of ['root.txt', 'intermediate.txt']) await writeFile(file(database), '');
  await writeFile(file('serial'), '01\n');
  const issue = async (name: string, issuer: string | undefined, key: readonly string[]) => {
    await openssl('genpkey', ...key, '-out', `${name}.key`);
    const subject = ['-subj', `/O=Consent Ledger Tests/CN=OpenSSL ${name}`, '-config', 'tsa.cnf'];
    await openssl('req', '-new', '-key', `${name}.key`, '-out', `${name}.csr`, ...subject);
    const signing =
      issuer === undefined
        ? ['-signkey', `${name}.key`]
        : ['-CA', `${issuer}.pem`, '-CAkey', `${issuer}.key`, '-CAcreateserial'];
    const extensions = ['-extfile', 'tsa.cnf', '-extensions', `${name}_ext`, '-days', '300'];
    await openssl('x509', '-req', '-in', `${name}.csr`, ...signing, ...extensions, '-out', `${name}.pem`);
  };
  await issue('root', undefined, OPENSSL_KEYS['P-256']);
  await issue('intermediate', 'root', OPENSSL_KEYS['P-256']);
  await issue('tsa', 'intermediate', OPENSSL_KEYS[options.key]);
  await issue('ocsp', 'intermediate', OPENSSL_KEYS['P-256']);
  await openssl('ca', '-config', 'tsa.cnf', '-name', 'intermediate', '-valid', 'tsa.pem');
  const der = async (name: string) => new X509Certificate(await readFile(file(name))).raw;
  return {
    url,
    folder,
    root: await der('root.pem'),
    intermediate: await der('intermediate.pem'),
    rootPemPath: file('root.pem'),
    intermediatePemPath: file('intermediate.pem'),
    revoke: async (reason) => {
      await openssl('ca', '-config', 'tsa.cnf', '-name', 'intermediate', '-revoke', 'tsa.pem', '-crl_reason', reason);
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      await rm(folder, { recursive: true });
    },
  };
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
}
