import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { parseVerifierKey } from '../../schemas/evidence/signed-note.js';
import { createWitness } from '../../verifier-cli/src/network/witness/server.js';
import { openWitnessState } from '../../verifier-cli/src/network/witness/state.js';
import { createWitnessKey, readWitnessKey } from '../../verifier-cli/src/network/witness/witness-key.js';

/** A server on a free port of this machine. */
export interface RunningServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** A witness as `consent-verify witness` runs it. */
export interface RunningWitness extends RunningServer {
  /** Verifier key of type 0x04. */
  readonly vkey: string;
  /** Verifier keys of Ed25519 and ML-DSA-44. */
  readonly vkeys: readonly string[];
}

export async function listen(server: Server): Promise<RunningServer> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen');
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers every request with this listener. */
export const listenWith = (listener: RequestListener): Promise<RunningServer> => listen(createServer(listener));

/**
 * Starts a witness of a name, with its key and state in a folder; a second start continues the first.
 * @param ledgerKeys verifier keys that it trusts
 */
export async function runWitness(folder: string, name: string, ledgerKeys: readonly string[]): Promise<RunningWitness> {
  const file = name.replaceAll('/', '-');
  const keyFile = join(folder, `${file}.key`);
  const signer = await readWitnessKey(keyFile).catch(() => createWitnessKey(keyFile, name));
  const state = await openWitnessState(join(folder, file));
  const keys = ledgerKeys.flatMap((line) => parseVerifierKey(line) ?? []);
  const running = await listen(createWitness({ signer, state, ledgerKeys: keys, log: () => undefined }));
  return {
    url: running.url,
    vkey: signer.verifierKeys[0] ?? '',
    vkeys: signer.verifierKeys,
    stop: async () => {
      await running.stop();
      await state.close();
    },
  };
}
