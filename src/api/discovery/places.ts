/** Where a document is, and its media type, without parameters. */
export interface Place {
  readonly path: string;
  readonly mediaType: string;
}

/** The documents by which agents and tools find the service, and what they lead to. */
export const PLACES = {
  apiCatalog: { path: '/.well-known/api-catalog', mediaType: 'application/linkset+json' },
  aiCatalog: { path: '/.well-known/ai-catalog.json', mediaType: 'application/ai-catalog+json' },
  agentSkills: { path: '/.well-known/agent-skills/index.json', mediaType: 'application/json' },
  jwkSet: { path: '/.well-known/jwks.json', mediaType: 'application/jwk-set+json' },
  securityText: { path: '/.well-known/security.txt', mediaType: 'text/plain' },
  llmsText: { path: '/llms.txt', mediaType: 'text/plain' },
  robotsText: { path: '/robots.txt', mediaType: 'text/plain' },
  panelApi: { path: '/openapi.yaml', mediaType: 'application/yaml' },
  toolApi: { path: '/openapi/tool-api.json', mediaType: 'application/json' },
  checkpoints: { path: '/checkpoints/', mediaType: 'application/json' },
  ledgerKeys: { path: '/checkpoints/keys', mediaType: 'application/json' },
  ledgerKey: { path: '/checkpoints/ledger.vkey', mediaType: 'text/plain' },
  verifier: { path: '/verify', mediaType: 'text/html' },
  verifierFile: { path: '/verify/consent-verify.html', mediaType: 'text/html' },
  readiness: { path: '/readyz', mediaType: 'application/json' },
} as const satisfies Record<string, Place>;

/** The URL by which a document names a path of the service. */
export type UrlOf = (path: string) => string;

/**
 * How documents name the service's own URLs: absolute if the operator has said under which URL it is reached; else without scheme and host (RFC
 * 3986 §4.2), so that they mean the place that the document came from. A request's Host header is never taken: whoever sends one could
 * have a cache hand out documents that lead elsewhere.
 * @param publicUrl of the configuration, without a slash at its end
 */
export function urlsUnder(publicUrl: string | undefined): UrlOf {
  return (path) => `${publicUrl ?? ''}${path}`;
}

/** A JSON document as it is served: indented, for people read it too. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
