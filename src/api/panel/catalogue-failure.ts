import { ApiError, type ErrorCode } from '../../../schemas/api/error-codes.js';
import { CatalogueError, type CatalogueErrorCode } from '../../platform/errors/change-refused.js';

const CODES: Readonly<Record<CatalogueErrorCode, ErrorCode>> = {
  not_found: 'RESOURCE_NOT_FOUND',
  already_exists: 'ALREADY_EXISTS',
  wrong_state: 'WRONG_STATE',
  invalid: 'VALIDATION_ERROR',
};

/**
 * Tells a caller of the HTTP API why the catalogue refused.
 * @throws ApiError for a CatalogueError; any other failure as it is
 */
export function catalogueFailure(error: unknown): never {
  if (error instanceof CatalogueError) throw new ApiError(CODES[error.code], error.message);
  throw error;
}
