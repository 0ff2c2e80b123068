import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../platform/config/index.js';
import { createTimestampClient, type ObserveAsking, type TimestampClient } from '../timestamping/client.js';
import { startDevelopmentTsa } from '../timestamping/development-tsa/start.js';
import { certificatesOfPem } from '../timestamping/pem.js';
import type { Installation } from './installation.js';

/** Where the stamper gets its tokens, and which roots they must lead to. */
export interface Timestamping {
  readonly client: TimestampClient;
  /** DER. */
  readonly trustAnchors: readonly Uint8Array[];
  /** Base URL of the development authority that runs in this process; null where real ones are configured. */
  readonly developmentUrl: string | null;
  stop(): Promise<void>;
}

/** Folder of the development authority's keys and root, in `DATA_DIR`. */
export function developmentTsaFolder(config: Config): string {
  return join(config.dataDir, 'development-tsa');
}

/** PEM file of the roots that tokens of this installation lead to. */
export function tsaRootFile(config: Config): string {
  return config.timestamping?.caFile ?? join(developmentTsaFolder(config), 'development-tsa-root.pem');
}

/** Measures and traces what authorities are asked. */
export function observeAsking({ metrics, tracing }: Pick<Installation, 'metrics' | 'tracing'>): ObserveAsking {
  return async (authority, ask) => {
    const startedAt = performance.now();
    const seconds = (): number => (performance.now() - startedAt) / 1000;
    try {
      const stamp = await tracing.span('time stamp request', { 'server.address': authority }, ask, { kind: 'client' });
      metrics.observeTimestamp(authority, 'obtained', seconds());
      return stamp;
    } catch (error) {
      metrics.observeTimestamp(authority, 'failed', seconds());
      throw error;
    }
  };
}

/**
 * The configured authorities, or a development authority started for the life of this process.
 * @throws if `TSA_CA_FILE` cannot be read or holds no certificate
 */
export async function openTimestamping(config: Config, observe?: ObserveAsking): Promise<Timestamping> {
  const observed = observe === undefined ? {} : { observe };
  if (config.timestamping !== undefined) {
    const { urls, caFile } = config.timestamping;
    const trustAnchors = certificatesOfPem(await readFile(caFile, 'utf8'));
    if (trustAnchors.length === 0)
      throw new Error(
        `TSA_CA_FILE ${caFile} contains no PEM certificate. Add the root certificates of the authorities in TSA_URLS.`,
      );
    const client = createTimestampClient({ authorities: urls, trustAnchors, ...observed });
    return { client, trustAnchors, developmentUrl: null, stop: async () => undefined };
  }
  const tsa = await startDevelopmentTsa({ folder: developmentTsaFolder(config) });
  const trustAnchors = certificatesOfPem(await readFile(tsa.rootCertificatePemPath, 'utf8'));
  const client = createTimestampClient({ authorities: [tsa.url], trustAnchors, ...observed });
  return { client, trustAnchors, developmentUrl: tsa.url, stop: () => tsa.stop() };
}
