import type { ContradictionFile } from '../../../schemas/evidence/contradiction.js';
import type { ConsistencyLine } from '../../../schemas/evidence/package-lines.js';
import { breachProof } from '../compare/breach-proof.js';
import { compareSources, NotComparable } from '../compare/compare-sources.js';
import { comparisonBanner, comparisonHeader, type NamedComparison } from '../compare/comparison-page.js';
import { comparisonReport } from '../compare/comparison-report.js';
import { type ContradictionVerdict, verifyContradiction } from '../compare/contradiction.js';
import { contradictionParts, contradictionReport } from '../compare/contradiction-page.js';
import type { Texts } from '../i18n/texts.js';
import { ConsentList, MAX_CONSENTS } from '../list/consent-list.js';
import type { ConsentListing } from '../list/listed-consent.js';
import { quietVerdict, type TrustSource, verdictWording } from '../rendering/wording.js';
import { missingTrust } from '../report/missing-trust.js';
import type { VerificationReport } from '../report/report.js';
import { type ReportParts, reportParts } from '../report/report-page.js';
import { type VerifyOptions, verifyPackage } from '../verify-package.js';
import { blobSource } from './blob-source.js';
import type { Compared, Subject } from './page-inputs.js';

/** Result of a check, which is shown in the language of the reader. */
export type Checked =
  | {
      readonly kind: 'package';
      readonly report: VerificationReport;
      readonly listing: ConsentListing;
      readonly trust: TrustSource;
      /** Null if no second file was given. */
      readonly compared: NamedComparison | null;
      /** The proof that a promise was broken, or null if none was, or if the two files together are the proof. */
      readonly breach: ContradictionFile | null;
    }
  | { readonly kind: 'comparison'; readonly compared: NamedComparison }
  | { readonly kind: 'contradiction'; readonly verdict: ContradictionVerdict };

/** Files that a reader gave, with the trust anchors for the check. */
export interface GivenFiles {
  readonly subject: Subject;
  readonly compared: Compared | null;
  readonly proofs: readonly ConsistencyLine[];
  readonly options: VerifyOptions;
  readonly trust: TrustSource;
}

/** A file that cannot be compared. */
export class NotComparableFile extends Error {
  override readonly name = 'NotComparableFile';

  /** @param file name of the file */
  constructor(readonly file: string) {
    super(file);
  }
}

/** @throws NotAPackage; UnknownFormatVersion; NotComparableFile; errors of the files */
export async function checkFiles(given: GivenFiles): Promise<Checked> {
  const { subject, options } = given;
  if (subject.kind === 'contradiction')
    return { kind: 'contradiction', verdict: await verifyContradiction(subject.proof, options.ledgerKeys, options.at) };
  const compared = await compareFiles(given);
  if (subject.kind === 'note') {
    if (compared === null) throw new NotComparableFile(subject.file.name);
    return { kind: 'comparison', compared };
  }
  const source = blobSource(subject.file);
  const list = new ConsentList(MAX_CONSENTS);
  const report = await verifyPackage(source, options, { list });
  const broken = report.promises.find(({ contradicted }) => contradicted);
  const promise = options.promises?.find(({ file }) => file === broken?.file)?.promise;
  const breach =
    broken?.event_id == null || promise === undefined
      ? null
      : await breachProof(source, { promise, eventId: broken.event_id }, options.ledgerKeys);
  return { kind: 'package', report, listing: list.listing, trust: given.trust, compared, breach };
}

async function compareFiles({ subject, compared, proofs, options }: GivenFiles): Promise<NamedComparison | null> {
  if (compared === null) return null;
  const [a, b] = [subject.file, compared.file];
  const { ledgerKeys: keys, trustAnchors, at } = options;
  try {
    const sources = await compareSources(blobSource(a), blobSource(b), { keys, stamps: { trustAnchors, at }, proofs });
    return { ...sources, files: { a: a.name, b: b.name } };
  } catch (error) {
    if (error instanceof NotComparable) throw new NotComparableFile(error.side === 'a' ? a.name : b.name);
    throw error;
  }
}

/** Renders the result as a page. A contradiction comes before the verdict on the first file. */
export function partsOf(checked: Checked, texts: Texts): ReportParts {
  if (checked.kind === 'contradiction') return contradictionParts(checked.verdict, texts);
  if (checked.kind === 'comparison') return { head: [comparisonHeader(checked.compared, texts)], body: [] };
  const { report, listing, trust, compared } = checked;
  const banner = compared === null ? [] : [comparisonBanner(compared, texts)];
  const isContradiction = compared?.comparison.outcome === 'contradiction';
  return reportParts(report, texts, listing, { trust, ...(isContradiction ? { before: banner } : { after: banner }) });
}

/** The result in one sentence or two. */
export function wordingOf(checked: Checked, texts: Texts): string {
  const { page, report: words } = texts;
  if (checked.kind === 'contradiction') return page.checkedContradiction(page.contradictions[checked.verdict.outcome]);
  const { compared } = checked;
  const sentences: string[] = [];
  if (checked.kind === 'package') {
    const { report } = checked;
    const wording = verdictWording(report.verdict, report.package.development === true, texts, checked.trust);
    sentences.push(page.checked(quietVerdict(wording, texts)), missingTrust(report, texts) ?? '');
  }
  if (compared !== null) {
    const word = words.comparison.outcomes[compared.comparison.outcome].toLocaleLowerCase(texts.language);
    sentences.push(page.compared(word));
  }
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

/** The result as data, as the command prints it. */
export function dataOf(checked: Checked): object {
  if (checked.kind === 'contradiction') return contradictionReport(checked.verdict);
  return checked.kind === 'package' ? checked.report : comparisonReport(checked.compared);
}

/** Returns the proof that a comparison found, or null if there is none, or if both files together are the proof. */
export function proofIn(checked: Checked): ContradictionFile | null {
  return checked.kind === 'contradiction' ? null : (checked.compared?.comparison.contradiction ?? null);
}
