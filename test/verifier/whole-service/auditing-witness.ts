import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Files, Witness } from './installation.js';

const NAME = 'auditor.example/w1/structure';
const KEY_FILE = 'auditor.key';
/** State of the auditing witness about the ledger that it audits. */
const STATE = 'audited';

/** Finding of the auditing witness after it recomputed the published structure. */
export interface Audit {
  /** Exit code of `consent-verify watch`. */
  readonly status: number | null;
  readonly stdout: string;
  /** Whether it has a proof, and `check-contradiction` confirms it. */
  readonly isProved: boolean;
}

/**
 * An organisation that recomputes the published structure of a ledger: by `consent-verify watch
 * --structure`, and by a witness that cosigns only what it audited. It has no package.
 */
export class AuditingWitness {
  readonly keys: readonly string[];

  /** @param port on which its witness listens */
  constructor(
    private readonly files: Files,
    private readonly port: number,
  ) {
    this.keys = files.run('witness', '--key-file', KEY_FILE, '--new-key', NAME).stdout.trim().split('\n');
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Looks at the ledger that it audits. @param state folder to use in place of its own */
  look(url: string, state = STATE): Audit {
    const { status, stdout } = this.files.run(
      'watch',
      url,
      ...['--ledger-key', 'ledger.vkey', '--state', state, '--structure', '--once'],
    );
    return { status, stdout, isProved: this.#isProved(state) };
  }

  /**
   * The state with which it meets an act of the operator: what it audited before. Each act happens to a
   * copy of the installation, so that each is met with a copy.
   * @returns name of the folder
   */
  remember(act: string): string {
    const copy = `${STATE}-${act}`;
    cpSync(this.files.path(STATE), this.files.path(copy), { recursive: true });
    return copy;
  }

  /** Starts its witness, which audits the structure at a URL. @param state folder of the witness */
  start(url: string, state: string): Promise<Witness> {
    return Witness.start(this.files, this.port, {
      keyFile: KEY_FILE,
      state,
      structure: url,
    });
  }

  /** Whether its witness has refused a checkpoint, with a proof that is confirmed. */
  hasRefused(state: string): boolean {
    return this.#isProved(state);
  }

  #isProved(state: string): boolean {
    const proofs = readdirSync(this.files.path(state)).filter((name) => name.startsWith('contradiction-'));
    return (
      proofs.length > 0 &&
      proofs.every(
        (proof) =>
          this.files.run('check-contradiction', join(state, proof), '--ledger-key', 'ledger.vkey').status === 0,
      )
    );
  }
}
