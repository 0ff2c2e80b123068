import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../platform/config/index.js';
import { certificatesOfPem, pemOfCertificates } from '../timestamping/authorities.js';
import { createTimestampClient, type ObserveAsking, type TimestampClient } from '../timestamping/client.js';
import { startDevelopmentTsa } from '../timestamping/development-tsa/start.js';
import type { Installation } from './installation.js';

/** The source of the stamper's tokens, and their trust anchors. */
export interface Timestamping {
  readonly client: TimestampClient;
  /** Number of distinct authorities that must stamp a checkpoint. */
  readonly quorum: number;
  /** DER of the root certificates. */
  readonly trustAnchors: readonly Uint8Array[];
  /** Base URL of the development authority in this process, or null if authorities are configured. */
  readonly developmentUrl: string | null;
  stop(): Promise<void>;
}

/** Folder of the development authority's keys and root certificate, in `DATA_DIR`. */
export function developmentTsaFolder(config: Config): string {
  return join(config.dataDir, 'development-tsa');
}

/** PEM file with the trust anchors of this installation's tokens. */
export function tsaRootFile(config: Config): string {
  return config.timestamping?.caFile ?? join(developmentTsaFolder(config), 'development-tsa-root.pem');
}

/**
 * Reads the root certificates of this installation's time stamps, and nothing else from their file.
 * @returns PEM, or null if the file of the development authority does not exist (yet) in this `DATA_DIR`
 * @throws Error if a file that `TSA_CA_FILE` names cannot be read
 */
export async function readTsaRoots(config: Config): Promise<string | null> {
  try {
    return pemOfCertificates(certificatesOfPem(await readFile(tsaRootFile(config), 'utf8')));
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (isAbsent && config.timestamping === undefined) return null;
    throw error;
  }
}

/** Measures and traces requests to the authorities. */
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
 * Uses the configured authorities, or starts a development authority in this process.
 * @throws Error if `TSA_CA_FILE` cannot be read or contains no certificate
 */
export async function openTimestamping(config: Config, observe?: ObserveAsking): Promise<Timestamping> {
  const observed = observe === undefined ? {} : { observe };
  if (config.timestamping !== undefined) {
    const { urls, caFile, quorum } = config.timestamping;
    const trustAnchors = certificatesOfPem(await readFile(caFile, 'utf8'));
    if (trustAnchors.length === 0)
      throw new Error(
        `TSA_CA_FILE ${caFile} contains no PEM certificate. Add the root certificates of the authorities in TSA_URLS.`,
      );
    const client = createTimestampClient({ authorities: urls, trustAnchors, ...observed });
    return { client, quorum, trustAnchors, developmentUrl: null, stop: async () => undefined };
  }
  const tsa = await startDevelopmentTsa({ folder: developmentTsaFolder(config) });
  const trustAnchors = certificatesOfPem(await readFile(tsa.rootCertificatePemPath, 'utf8'));
  const client = createTimestampClient({ authorities: [tsa.url], trustAnchors, ...observed });
  return { client, quorum: 1, trustAnchors, developmentUrl: tsa.url, stop: () => tsa.stop() };
}
