export { loadProjection } from './load-projection.js';
export { createProjector } from './projector.js';
export {
  compareProjection,
  prepareProjections,
  type RebuildResult,
  rebuildProjection,
} from './rebuild.js';
export {
  listProjections,
  projectionStatus,
  stoppedProjections,
} from './status.js';
