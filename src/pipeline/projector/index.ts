export type { TableComparison } from './compare.js';
export { type Problem, ProjectionFailure } from './failures.js';
export type { ProjectionState } from './generations.js';
export { loadProjection, NotAProjection } from './load-projection.js';
export { createProjector, type ProjectorOptions } from './projector.js';
export {
  compareProjection,
  prepareProjections,
  type RebuildOptions,
  type RebuildResult,
  RebuildRunning,
  rebuildProjection,
} from './rebuild.js';
export {
  type ListedProjection,
  listProjections,
  type ProjectionStatus,
  projectionStatus,
  stoppedProjections,
} from './status.js';
export { ViewTaken } from './views.js';
