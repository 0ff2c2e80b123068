import type { Manifest } from '../../../schemas/evidence/manifest.js';
import type { EnclosedCheckpoint } from './checkpoints-files.js';
import type { WorkedExample } from './readme-example.js';
import type { ReadmeSite } from './readme-facts.js';
import type { ReleasedVerifier } from './released-verifier.js';

/** The data that a package's README shows. */
export interface ReadmeOptions {
  readonly manifest: Omit<Manifest, 'files'>;
  /** The newest enclosed checkpoint; null if nothing was stamped. */
  readonly checkpoint: EnclosedCheckpoint | null;
  readonly example: WorkedExample | null;
  /** Null if the package has no configuration of the site. */
  readonly site: ReadmeSite | null;
  /** The verifier that the service was released with; null if the service does not know it. */
  readonly verifier: ReleasedVerifier | null;
}
