import { issueCrl } from './certificates.js';
import { type Identity, loadIdentity, settleIdentity, writeRootPem } from './identity.js';
import { DEVELOPMENT_MARK } from './marking.js';
import { answerRequest } from './responder.js';
import { type Answer, close, listen } from './server.js';

/** Path of the revocation list in the authority's certificate. */
const CRL_PATH = '/development-tsa.crl';

/** A running development authority. */
export interface DevelopmentTsa {
  /** URL for time stamp requests (POST). */
  readonly url: string;
  /** PEM file with the root certificate of its tokens. */
  readonly rootCertificatePemPath: string;
  readonly port: number;
  /** Completes the requests in progress, then stops. */
  stop(): Promise<void>;
}

/**
 * Starts a time stamp authority for development: a complete RFC 3161 responder over HTTP. Each
 * of its certificates states that its tokens are no evidence.
 *
 * The first start creates the keys and stores them in the folder (mode 0600). The port is stored,
 * too, because the certificate names it in the URL of the revocation list. If the port is
 * unavailable at a later start, the authority uses another one, with a new certificate. Earlier
 * tokens remain valid, because the root is the same.
 *
 * @param options.folder folder of keys, port and `development-tsa-root.pem`; created if missing
 * @param options.host address to listen on; the default is 127.0.0.1
 * @param options.port port of the first start; the default is any free port
 * @param options.organization organization of the root certificate that the first start creates, at
 *   most 64 characters; the default is none. Authorities of one organization count as one.
 * @throws Error if the stored identity is unreadable, or no port is available
 */
export async function startDevelopmentTsa(options: {
  readonly folder: string;
  readonly host?: string;
  readonly port?: number;
  readonly organization?: string;
}): Promise<DevelopmentTsa> {
  const { folder, host = '127.0.0.1', organization = null } = options;
  const kept = await loadIdentity(folder);
  let identity: Identity | undefined;
  const { server, port } = await listen(host, options.port ?? kept?.port ?? 0, async (method, path, body) =>
    identity === undefined ? text(503, 'starting') : handle(identity, method, path, body),
  );
  try {
    const base = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    identity = await settleIdentity(folder, kept, `${base}${CRL_PATH}`, port, organization, new Date());
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
