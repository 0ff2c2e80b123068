import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { type Projection, ProjectionShape } from '../../../projections/definition.js';

/** The file does not export a projection. The message names the defect. */
export class NotAProjection extends Error {
  override readonly name = 'NotAProjection';
}

/**
 * Loads a projection from the default export of a JavaScript file (docs/projections.md). The code
 * of the file runs with the rights of this process.
 * @param path relative to the working directory
 * @throws NotAProjection
 */
export async function loadProjection(path: string): Promise<Projection> {
  const file = resolve(path);
  let loaded: unknown;
  try {
    loaded = await import(pathToFileURL(file).href);
  } catch (error) {
    throw new NotAProjection(`${file} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  const parsed = z.object({ default: ProjectionShape }).safeParse(loaded);
  if (!parsed.success)
    throw new NotAProjection(`The default export of ${file} is not a projection: ${z.prettifyError(parsed.error)}`);
  return parsed.data.default;
}
