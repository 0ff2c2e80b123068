import * as z from 'zod';
import { Seed } from '../../src/demo/seed.js';
import type { TestInstallation } from './running-service.js';

/** Output of `admin seed-demo`. */
export const SeededTenant = z.intersection(Seed, z.object({ tenant_id: z.string() }));
export type SeededTenant = z.infer<typeof SeededTenant>;

/** Creates the tenant of the demonstration by a command. @param options of the command */
export async function seedTenant(
  installation: Pick<TestInstallation, 'json'>,
  ...options: readonly string[]
): Promise<SeededTenant> {
  return SeededTenant.parse(await installation.json('admin', 'seed-demo', ...options));
}

interface SeededDocuments {
  readonly documents: readonly {
    readonly kind: string;
    readonly versions: readonly { readonly id: string; readonly language: string; readonly state: string }[];
  }[];
}

/** The active English version of the tenant's cookie policy. */
export function cookieVersionOf({ documents }: SeededDocuments): string {
  const policy = documents.find(({ kind }) => kind === 'cookie_policy');
  const version = policy?.versions.find(({ state, language }) => state === 'active' && language === 'en');
  if (version === undefined) throw new Error('the demonstration has no active cookie policy');
  return version.id;
}
