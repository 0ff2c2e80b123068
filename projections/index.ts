import { consents } from './consents.js';
import { dailyCounts } from './daily-counts.js';
import type { Projection } from './definition.js';
import { notices } from './notices.js';

/** The read models of the service. */
export const PROJECTIONS: readonly Projection[] = [consents, notices, dailyCounts];
