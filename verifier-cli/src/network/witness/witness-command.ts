import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { isAuditingName } from '../../../../schemas/evidence/cosignature.js';
import { readKeysOrFiles } from '../../cli/trust-files.js';
import { UsageError } from '../../cli/usage-error.js';
import { printable } from '../../rendering/printable.js';
import { openSource } from '../structure/source.js';
import { readToken } from '../structure/token.js';
import { createWitness } from './server.js';
import { openWitnessState } from './state.js';
import { createStructureAudit } from './structure-audit.js';
import { createWitnessKey, readWitnessKey } from './witness-key.js';

/** Options of `consent-verify witness`, as commander gives them. */
export interface WitnessCommandOptions {
  readonly listen?: string;
  readonly keyFile: string;
  readonly newKey?: string;
  readonly state?: string;
  readonly ledgerKey?: readonly string[];
  /** URL or folder of the published structure that is audited before cosigning. */
  readonly structure?: string;
  readonly tokenFile?: string;
}

/**
 * Runs a witness until `signal` is aborted. With `--new-key` it first creates the key of the
 * witness, and without `--listen` it then ends.
 * @throws UsageError
 */
export async function runWitness(
  { listen, keyFile, newKey, state: folder, ledgerKey = [], structure, tokenFile }: WitnessCommandOptions,
  { out, log }: { readonly out: (text: string) => unknown; readonly log: (text: string) => unknown },
  signal: AbortSignal,
): Promise<void> {
  const signer = newKey === undefined ? await readWitnessKey(keyFile) : await createWitnessKey(keyFile, newKey);
  out(`${signer.verifierKeys.join('\n')}\n`);
  if (listen === undefined && newKey !== undefined) return;
  if (listen === undefined || folder === undefined || ledgerKey.length === 0)
    throw new UsageError('a witness needs --listen, --state and at least one --ledger-key');
  const address = parseAddress(listen);
  const ledgerKeys = await readKeysOrFiles(ledgerKey);
  assertName(signer.verifierKeys[0] ?? '', structure !== undefined);
  if (structure !== undefined && new Set(ledgerKeys.map(({ name }) => name)).size > 1)
    throw new UsageError('--structure is of one ledger: run one witness for each');
  const source =
    structure === undefined ? null : await openSource(structure, { token: await readToken(tokenFile), signal });
  const state = await openWitnessState(folder);
  try {
    const write = (line: string) => log(`${new Date().toISOString()} ${printable(line)}\n`);
    const audit = source && createStructureAudit({ source, folder, ledgerKeys, log: write, signal });
    const server = createWitness({ signer, state, ledgerKeys, log: write, ...(audit && { audit }) });
    server.listen(address);
    await once(server, 'listening').catch((error: unknown) => {
      throw new UsageError(`${listen} cannot be used: ${error instanceof Error ? error.message : 'unknown error'}`);
    });
    out(`listening on ${addressText(server.address())}\n`);
    if (!signal.aborted) await once(signal, 'abort');
    const closed = once(server, 'close');
    server.close();
    server.closeIdleConnections();
    await closed;
  } finally {
    await state.close();
  }
}

/**
 * @throws UsageError if the name promises an audit that the witness does not perform, or does not reveal one that it
 * does
 */
function assertName(verifierKey: string, isAuditing: boolean): void {
  const [name = ''] = verifierKey.split('+');
  if (isAuditing === isAuditingName(name)) return;
  throw new UsageError(
    isAuditing
      ? `${name} does not end in /structure: a witness that audits the structure needs a key with such a name`
      : `${name} ends in /structure: such a witness audits the structure, so give --structure`,
  );
}

function parseAddress(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535)
    throw new UsageError(`“${text}” is not an address: write host and port, as in 127.0.0.1:8081`);
  return { host, port };
}

function addressText(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') return address ?? 'an unknown address';
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}
