import { SECOND_FACTOR_OPERATIONS } from '../auth/second-factor.js';
import { AUTH_OPERATIONS } from '../auth/sign-in.js';
import { SIGN_UP_OPERATIONS } from '../auth/sign-up.js';
import { CHECKPOINT_OPERATIONS } from '../checkpoints/checkpoints.js';
import { STRUCTURE_OPERATIONS } from '../checkpoints/structure.js';
import { PANEL_OPERATIONS } from '../panel/operations.js';
import { PUBLIC_OPERATIONS } from '../public/public-verify.js';
import type { Operation } from '../server/operation.js';
import { TOOL_OPERATIONS } from '../tool/operations.js';

/**
 * Operations of the Tool API's OpenAPI document. They include public verification, the ledger and
 * sign-in, because backends use them.
 */
export const TOOL_API_OPERATIONS: readonly Operation[] = [
  ...TOOL_OPERATIONS,
  ...PUBLIC_OPERATIONS,
  ...CHECKPOINT_OPERATIONS,
  ...STRUCTURE_OPERATIONS,
  ...AUTH_OPERATIONS,
];

/** Operations of the panel API's OpenAPI document. */
export const PANEL_API_OPERATIONS: readonly Operation[] = [
  ...AUTH_OPERATIONS,
  ...SECOND_FACTOR_OPERATIONS,
  ...SIGN_UP_OPERATIONS,
  ...PANEL_OPERATIONS,
];
