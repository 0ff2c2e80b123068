import { sha256 } from '../../../schemas/crypto/digest.js';
import { concatBytes, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { SITE_CONFIG_PUBLISHED } from '../../../schemas/events/site-config.js';
import { keyLineOf } from '../../../schemas/evidence/signed-note.js';
import type { VerifyOptions } from '../../../verifier-cli/src/index.js';
import { type FixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../../support/ledger-fixture.js';
import { policyEvent } from '../../support/ledger-fixture-events.js';
import { buildPackage, type Files, type PackageHooks } from '../../support/package-builder.js';
import type { ZipFile } from '../../support/zip-writer.js';
import type { Attack } from '../attacks/attack.js';
import { attackTable } from '../attacks/attack-table.js';
import { publishedAs } from '../published-as.js';
import { fixedAuthority } from './fixed-authority.js';
import { slug } from './slug.js';

/** An interop case with everything that is written of it. */
export interface InteropCase {
  /** Path in the folder of the cases. */
  readonly file: string;
  readonly group: string;
  readonly title: string;
  /** Null for a package with nothing wrong, and for a file that is no package. */
  readonly check: string | null;
  readonly outcome: 'fail' | 'indeterminate' | 'pass';
  readonly verdict: Attack['verdict'];
  readonly zip: Uint8Array;
  /**
   * SHA-256 over the names and contents that go into the ZIP: unlike the file's bytes, it does not
   * depend on the compressor.
   */
  readonly contentSha256: string;
  /** DER. */
  readonly tsaCa: readonly Uint8Array[];
  /** Verifier-key lines. */
  readonly ledgerKeys: readonly string[];
  /** Null: by the ledger's policy. */
  readonly maxDelayMs: number | null;
  /** Null: none. */
  readonly maxAgeMs: number | null;
  readonly requireStamps: number;
  readonly at: Date;
  /** What the case needs and the verifier in Python states that it does not check; null: nothing. */
  readonly notByScript: string | null;
}

/** A case that is not made yet. */
export interface PlannedCase {
  /** Path in the folder of the cases. */
  readonly file: string;
  readonly group: string;
  /** @param change a further change, of the files before they are signed */
  make(change?: (files: Files) => void): InteropCase;
}

const site = publishedAs(SITE_CONFIG_PUBLISHED, {
  time_zone: 'Europe/Istanbul',
  withdrawal_url: 'https://my.shop.example/choices',
});
/** Every member that only states something. Its proofs are leaves, so that the repository needs no case for that. */
const STATED: PackageHooks = {
  ...site,
  proofForm: 'leaves',
  world: (world) => {
    site.world?.(world);
    world.batches[0]?.push(
      policyEvent(1, 2, {
        operator: { legal_name: 'Örnek Defter A.Ş.' },
        qualified_stamps: [{ organization: 'Another Authority', trusted_list: 'https://tl.example/list' }],
      }),
    );
  },
  manifest: (manifest) => ({ ...manifest, export: { role: 'dpo', reason: 'regulator_request', name: 'Ayşe Yılmaz' } }),
};

/**
 * Every case: the attacks that change a package, and packages with nothing wrong beside them.
 * @param folder of the cases, with its keys
 */
export function interopCases(folder: string): readonly PlannedCase[] {
  const authority = fixedAuthority(folder);
  const attacks = Object.entries(attackTable(authority)).flatMap(([group, list]) =>
    list.map((attack) => ({ group, attack })),
  );
  return [
    good(authority, 'nothing wrong', {}),
    good(authority, 'a ledger key that was changed', { rotateAt: 4 }),
    good(authority, 'what operator, site and exporter state', STATED),
    good(authority, 'every proof as a path', { proofForm: 'paths' }),
    good(authority, 'every proof as leaves', { proofForm: 'leaves' }),
    ...attacks.map(({ group, attack }) => planned(authority, group, attack)),
  ];
}

function good(authority: FixtureAuthority, name: string, hooks: PackageHooks): PlannedCase {
  return planned(authority, 'nothing wrong', {
    name,
    hooks,
    options: {},
    catches: null,
    outcome: 'pass',
    verdict: 'valid',
  });
}

function planned(authority: FixtureAuthority, group: string, plan: Attack): PlannedCase {
  const file = `packages/${slug(group)}/${slug(plan.name)}.zip`;
  const { catches: check, outcome, verdict, notByScript = null } = plan;
  return {
    file,
    group,
    make: (change) => ({
      ...made(authority, changed(plan.hooks, change), plan.options),
      file,
      group,
      title: plan.name,
      check,
      outcome,
      verdict,
      notByScript,
    }),
  };
}

function changed(hooks: PackageHooks, change: ((files: Files) => void) | undefined): PackageHooks {
  if (change === undefined) return hooks;
  return {
    ...hooks,
    files: (files) => {
      hooks.files?.(files);
      change(files);
    },
  };
}

function made(
  authority: FixtureAuthority,
  hooks: PackageHooks,
  options: Partial<VerifyOptions>,
): Omit<InteropCase, 'file' | 'group' | 'title' | 'check' | 'outcome' | 'verdict' | 'notByScript'> {
  let contentSha256 = '';
  const zip = buildPackage(authority, {
    ...hooks,
    zipFiles: (files) => {
      const own = hooks.zipFiles?.(files) ?? files;
      contentSha256 = contentDigest(own);
      return own;
    },
  });
  return {
    zip,
    contentSha256,
    tsaCa: options.trustAnchors ?? [authority.root.der],
    ledgerKeys: options.ledgerKeys?.map((key) => keyLineOf(key)) ?? [LEDGER_KEY.verifierKey],
    maxDelayMs: options.maxDelay ?? null,
    maxAgeMs: options.maxAge ?? null,
    requireStamps: options.requireStamps ?? 1,
    at: options.at ?? VERIFIED_AT,
  };
}

function contentDigest(files: readonly ZipFile[]): string {
  return toHex(sha256(concatBytes(...files.flatMap(({ name, content }) => [sha256(utf8(name)), sha256(content)]))));
}
