import { PANEL_API_OPERATIONS, TOOL_API_OPERATIONS } from '../../../src/api/openapi/descriptions.js';
import type { Operation } from '../../../src/api/server/operation.js';

/** Every operation of the service, each once: sign-in stands in both documents. */
export const ALL_OPERATIONS: readonly Operation[] = [...new Set([...TOOL_API_OPERATIONS, ...PANEL_API_OPERATIONS])];
