/** Path of a document, and its media type without parameters. */
export interface Place {
  readonly path: string;
  readonly mediaType: string;
}

/** A link to a public document of the service. */
export interface PublicLink {
  readonly title: string;
  readonly path: string;
  /** Description of the document in a few words. */
  readonly notes: string;
}

/** The documents by which agents and tools find the service, and the paths that they lead to. */
export const PLACES = {
  apiCatalog: { path: '/.well-known/api-catalog', mediaType: 'application/linkset+json' },
  aiCatalog: { path: '/.well-known/ai-catalog.json', mediaType: 'application/ai-catalog+json' },
  agentSkills: { path: '/.well-known/agent-skills/index.json', mediaType: 'application/json' },
  jwkSet: { path: '/.well-known/jwks.json', mediaType: 'application/jwk-set+json' },
  securityText: { path: '/.well-known/security.txt', mediaType: 'text/plain' },
  frontPage: { path: '/', mediaType: 'text/html' },
  llmsText: { path: '/llms.txt', mediaType: 'text/plain' },
  llmsFullText: { path: '/llms-full.txt', mediaType: 'text/plain' },
  robotsText: { path: '/robots.txt', mediaType: 'text/plain' },
  panelApi: { path: '/openapi.yaml', mediaType: 'application/yaml' },
  toolApi: { path: '/openapi/tool-api.json', mediaType: 'application/json' },
  checkpoints: { path: '/checkpoints/', mediaType: 'application/json' },
  ledgerKeys: { path: '/checkpoints/keys', mediaType: 'application/json' },
  ledgerKey: { path: '/checkpoints/ledger.vkey', mediaType: 'text/plain' },
  tsaRoots: { path: '/checkpoints/tsa-roots.pem', mediaType: 'application/pem-certificate-chain' },
  verifier: { path: '/verify', mediaType: 'text/html' },
  verifierFile: { path: '/verify/consent-verify.html', mediaType: 'text/html' },
  dashboard: { path: '/panel', mediaType: 'text/html' },
  browserSdk: { path: '/sdk/consent.js', mediaType: 'text/javascript' },
} as const satisfies Record<string, Place>;

/** The URL by which a document names a path of the service. */
export type UrlOf = (path: string) => string;

/**
 * Makes the URLs of the service in documents: absolute URLs if the operator has configured the URL of the service, or
 * else URLs without scheme and host (RFC 3986 §4.2), which refer to the origin of the document. The Host header of a
 * request is never used, because an attacker could put documents into a cache that lead to another host.
 * @param publicUrl public URL from the configuration, without a trailing slash
 */
export function urlsUnder(publicUrl: string | undefined): UrlOf {
  return (path) => `${publicUrl ?? ''}${path}`;
}

/**
 * The base URI of the Tool API on the host of the public scanner: with the scheme and port of the
 * service if the operator has configured its URL, else without a scheme (RFC 3986 §4.2).
 * @returns null if there is no such host
 */
export function scannerUrl(host: string | undefined, publicUrl: string | undefined): string | null {
  if (host === undefined) return null;
  const { protocol, port } = publicUrl === undefined ? { protocol: '', port: '' } : new URL(publicUrl);
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}/tool/v1/`;
}

/** Formats a JSON document for serving. It is indented because people also read it. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
