export { ProjectionFailure } from './failures.js';
export { type Generation, readStored as readLive } from './generations.js';
export { createProjector } from './projector.js';
export {
  compareProjection,
  prepareProjections,
  type RebuildResult,
  rebuildProjection,
  removeProjection,
} from './rebuild.js';
export { advanceReplays, createReplay, isReached, type ReplayTarget, type TemporaryReplay } from './replay.js';
export { schemaOf } from './sql.js';
export {
  fileProjections,
  type KnownProjection,
  knownProjection,
  listProjections,
  loadProjection,
  projectionStatus,
  stoppedProjections,
} from './status.js';
