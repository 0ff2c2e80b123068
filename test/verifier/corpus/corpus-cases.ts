import { sha256 } from '../../../schemas/crypto/digest.js';
import { concatBytes, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { formatVerifierKey } from '../../../schemas/evidence/signed-note.js';
import type { VerifyOptions } from '../../../verifier-cli/src/index.js';
import { type FixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../../support/ledger-fixture.js';
import { buildPackage, type PackageHooks } from '../../support/package-builder.js';
import type { ZipFile } from '../../support/zip-writer.js';
import type { Attack } from '../attacks/attack.js';
import { attackTable } from '../attacks/attack-table.js';
import { fixedAuthority } from './fixed-authority.js';

/** A case of the corpus with everything that is written of it. */
export interface CorpusCase {
  /** Path in the corpus. */
  readonly file: string;
  readonly group: string;
  readonly title: string;
  /** Null for a package with nothing wrong. */
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
  readonly requireStamps: number;
  readonly at: Date;
}

/** A case that is not made yet. */
export interface PlannedCase {
  /** Path in the corpus. */
  readonly file: string;
  make(): CorpusCase;
}

/**
 * Every case: the attacks that change a package, and packages with nothing wrong beside them.
 * @param folder of the corpus, with its keys
 */
export function corpusCases(folder: string): readonly PlannedCase[] {
  const authority = fixedAuthority(folder);
  const attacks = Object.entries(attackTable(authority)).flatMap(([group, list]) =>
    list.filter(({ hooks }) => Object.keys(hooks).length > 0).map((attack) => ({ group, attack })),
  );
  return [
    good(authority, 'nothing wrong', {}),
    good(authority, 'a ledger key that was changed', { rotateAt: 4 }),
    good(authority, 'every proof as a path', { proofForm: 'paths' }),
    good(authority, 'every proof as leaves', { proofForm: 'leaves' }),
    ...attacks.map(({ group, attack }) => planned(authority, group, attack)),
  ];
}

function good(authority: FixtureAuthority, name: string, hooks: PackageHooks): PlannedCase {
  return planned(authority, 'nothing wrong', {
    ...{ name, hooks, options: {}, catches: null, outcome: 'pass', verdict: 'valid' },
  });
}

type Plan = Pick<Attack, 'name' | 'hooks' | 'options' | 'verdict'> & {
  readonly catches: CorpusCase['check'];
  readonly outcome: CorpusCase['outcome'];
};

function planned(authority: FixtureAuthority, group: string, plan: Plan): PlannedCase {
  const file = `packages/${slug(group)}/${slug(plan.name)}.zip`;
  const { catches: check, outcome, verdict } = plan;
  return {
    file,
    make: () => ({
      ...made(authority, plan.hooks, plan.options),
      file,
      group,
      title: plan.name,
      check,
      outcome,
      verdict,
    }),
  };
}

function made(
  authority: FixtureAuthority,
  hooks: PackageHooks,
  options: Partial<VerifyOptions>,
): Omit<CorpusCase, 'file' | 'group' | 'title' | 'check' | 'outcome' | 'verdict'> {
  let contentSha256 = '';
  const zip = buildPackage(authority, {
    ...hooks,
    zipFiles: (files) => {
      const changed = hooks.zipFiles?.(files) ?? files;
      contentSha256 = contentDigest(changed);
      return changed;
    },
  });
  return {
    zip,
    contentSha256,
    tsaCa: options.trustAnchors ?? [authority.root.der],
    ledgerKeys: options.ledgerKeys?.map(({ name, publicKey }) => formatVerifierKey(name, publicKey)) ?? [
      LEDGER_KEY.verifierKey,
    ],
    maxDelayMs: options.maxDelay ?? null,
    requireStamps: options.requireStamps ?? 1,
    at: options.at ?? VERIFIED_AT,
  };
}

function contentDigest(files: readonly ZipFile[]): string {
  return toHex(sha256(concatBytes(...files.flatMap(({ name, content }) => [sha256(utf8(name)), sha256(content)]))));
}

function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
