import { issueCrl } from './certificates.js';
import { type Identity, loadIdentity, settleIdentity, writeRootPem } from './identity.js';
import { DEVELOPMENT_MARK } from './marking.js';
import { answerRequest } from './responder.js';
import { type Answer, close, listen } from './server.js';

/** Path of the revocation list that the authority's certificate names. */
const CRL_PATH = '/development-tsa.crl';

/** A running development authority. */
export interface DevelopmentTsa {
  /** Where time-stamp requests are posted. */
  readonly url: string;
  /** PEM file with the root that its tokens verify against. */
  readonly rootCertificatePemPath: string;
  readonly port: number;
  /** Answers what has begun and stops. */
  stop(): Promise<void>;
}

/**
 * Starts a time-stamping authority for development: a real RFC 3161 responder over HTTP, whose every certificate says that
 * its tokens are no evidence.
 *
 * Keys are made at the first start and kept in the folder (mode 0600). The port is kept too, because the certificate names
 * it as the place of its revocation list. Where that port is taken at a later start, another one is used and the authority
 * gets a new certificate that names it; tokens made before stay good, the root being the same.
 *
 * @param options.folder where keys, port and `development-tsa-root.pem` are kept; made if missing
 * @param options.host address to listen on, 127.0.0.1 unless told
 * @param options.port port of the first start; any free one unless told
 * @throws if the folder's identity cannot be read, or nothing can be listened on
 */
export async function startDevelopmentTsa(options: {
  readonly folder: string;
  readonly host?: string;
  readonly port?: number;
}): Promise<DevelopmentTsa> {
  const { folder, host = '127.0.0.1' } = options;
  const kept = await loadIdentity(folder);
  let identity: Identity | undefined;
  const { server, port } = await listen(host, options.port ?? kept?.port ?? 0, async (method, path, body) =>
    identity === undefined ? text(503, 'starting') : handle(identity, method, path, body),
  );
  try {
    const base = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    identity = await settleIdentity(folder, kept, `${base}${CRL_PATH}`, port, new Date());
    const rootCertificatePemPath = await writeRootPem(folder, identity);
    return { url: `${base}/`, rootCertificatePemPath, port, stop: () => close(server) };
  } catch (error) {
    await close(server);
    throw error;
  }
}

async function handle(identity: Identity, method: string, path: string, body: Uint8Array): Promise<Answer> {
  const now = new Date();
  if (path === CRL_PATH) {
    if (method !== 'GET') return text(405, 'the revocation list is read with GET');
    const crl = await issueCrl(identity.root, identity.rootKeys, now);
    return { status: 200, contentType: 'application/pkix-crl', body: crl };
  }
  if (path !== '/') return text(404, 'not found');
  if (method !== 'POST') return text(405, 'send time stamp requests (RFC 3161) with POST');
  return { status: 200, contentType: 'application/timestamp-reply', body: await answerRequest(body, identity, now) };
}

function text(status: number, message: string): Answer {
  const body = new TextEncoder().encode(`${message}\n${DEVELOPMENT_MARK}\n`);
  return { status, contentType: 'text/plain; charset=utf-8', body };
}
