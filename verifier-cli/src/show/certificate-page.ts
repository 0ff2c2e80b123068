import { originOf } from '../../../schemas/events/consent-imported.js';
import type { VendorList } from '../../../schemas/iab/vendor-list.js';
import type { Texts } from '../i18n/texts.js';
import { element, type Markup } from '../rendering/markup.js';
import { banner, facts, finding, foreign } from '../rendering/page-parts.js';
import { printableSource } from '../rendering/printable.js';
import { asOfText, byDayText } from '../rendering/times-text.js';
import { type TrustSource, verdictWording } from '../rendering/wording.js';
import { VERSION } from '../version.js';
import { type Certificate, certificateOf } from './certificate.js';
import { drawnBanner } from './drawn-banner.js';
import { shownConsent } from './shown-consent.js';
import type { ShownRecord } from './shown-record.js';

/** What the verifier knows about the file and about itself. None of this comes from the package. */
export interface CertificateFacts {
  /** Name of the file that was checked. */
  readonly file: string;
  /** SHA-256 of that file, in hex. */
  readonly fileSha256: string;
  /** The program with its own SHA-256 in hex, or null if it cannot read itself. */
  readonly verifier: { readonly kind: 'command' | 'page'; readonly sha256: string | null };
  readonly trust: TrustSource;
}

/** Maximum number of characters of one value, and of the excerpt of the text, in a certificate. */
const MAX_VALUE = 280;
const MAX_EXCERPT = 420;
const MAX_WARNINGS = 2;

/**
 * One consent on one sheet of paper, for a reader who has nothing else: who agreed to what, in which words, when, what
 * proves it, and what does not. It states nothing that the page of the record does not state.
 * @param list the vendor list that the configuration names, if it was given
 * @returns null if the event is not a consent, or cannot be read by this verifier
 */
export function certificatePage(
  shown: ShownRecord,
  about: CertificateFacts,
  texts: Texts,
  list: VendorList | null = null,
): Markup | null {
  const consent = shownConsent(shown);
  const lines = certificateOf(shown, texts, list);
  if (consent === null || lines === null) return null;
  const { paper, record, language } = texts;
  // A record counts as invalid with its whole file: paper is read without the rest of the report.
  const verdict = shown.package_verdict === 'invalid' ? 'invalid' : shown.verdict;
  const wording = verdictWording(verdict, shown.development, texts, about.trust);
  // “Valid” alone would be read as a consent that is in force.
  const isProved = wording.style === 'valid' && shown.proved.before !== null;
  const sentence = element('span', {}, verdict === 'valid' ? wording.sentence : paper.verdicts[verdict]);
  const drawn = question(shown, texts);
  return element(
    'article',
    { class: 'paper', lang: language },
    ...(verdict === 'valid' ? [] : [element('p', { class: 'across', 'aria-hidden': 'true' }, paper.across[verdict])]),
    element(
      'header',
      {},
      element('h1', {}, originOf(consent) === null ? paper.title : paper.importedTitle),
      element(
        'p',
        {},
        element('code', {}, foreign(shown.consent_token ?? shown.event_id)),
        ` ${asOfText(shown.as_of, texts)}. ${paper.utc}`,
      ),
      isProved ? banner(wording, paper.provedRecord) : banner(wording, wording.word, sentence),
    ),
    facts(
      ordered(lines, texts)
        // The drawing says the same without technical terms.
        .filter(([name]) => drawn.length === 0 || name !== record.presentation.title)
        .map(([name, value]): [string, Markup] => [name, foreign(shortened(value, MAX_VALUE, texts))]),
    ),
    ...drawn,
    ...excerpt(shown, texts),
    ...shown.warning_findings
      .slice(0, MAX_WARNINGS)
      .map((warning) =>
        element('p', { class: 'attention' }, element('strong', {}, paper.attention), ' ', finding(warning, texts)),
      ),
    element('h2', {}, paper.proved),
    verdict === 'valid'
      ? element('ol', {}, ...proofSentences(shown, about, texts).map((line) => element('li', {}, line)))
      : element('section', {}, ...proofSentences(shown, about, texts).map((line) => element('p', {}, line))),
    element('p', {}, paper.limits),
    element(
      'section',
      { class: 'check' },
      element(
        'p',
        {},
        element('strong', {}, paper.nothingByItself),
        ' ',
        foreign(paper.file[verdict](shortened(about.file, 80, texts))),
        ' ',
        paper.howToCheck,
      ),
      element('p', {}, element('code', {}, about.fileSha256)),
      element(
        'p',
        {},
        ...(about.verifier.sha256 === null
          ? [paper.verifierUnknown(VERSION)]
          : [paper.verifiers[about.verifier.kind](VERSION), ' ', element('code', {}, about.verifier.sha256)]),
      ),
      element('p', {}, paper.genuine),
    ),
    element('p', { class: 'signature' }, ...paper.signature.map((label) => element('span', {}, label))),
  );
}

/** What must be on the sheet comes first: long values can only push out what comes after them. */
function ordered(lines: Certificate, { record, evidence }: Texts): Certificate {
  const { decision, purpose, afterwards, origin, by, existedBy, claimedTime, validUntil, website, controller } = record;
  const first = [decision, purpose, afterwards, origin, by, existedBy, claimedTime, validUntil, website, controller];
  first.push(evidence.operator, evidence.qualified);
  const rank = (name: string): number => (first.includes(name) ? first.indexOf(name) : first.length);
  return [...lines].sort(([a], [b]) => rank(a) - rank(b));
}

function proofSentences(shown: ShownRecord, { trust }: CertificateFacts, texts: Texts): readonly Markup[] {
  const { paper, words } = texts;
  const { proof, proved, development } = shown;
  if (shown.verdict === 'invalid') {
    const failed = shown.checks.find(({ outcome }) => outcome === 'fail');
    const [found] = failed?.findings ?? [];
    return [
      paper.invalid,
      ...(failed === undefined ? [] : [texts.checks(failed.id)]),
      ...(found === undefined ? [] : [finding(found, texts)]),
    ];
  }
  if (shown.package_verdict === 'invalid') return [paper.invalidPackage];
  if (shown.verdict === 'indeterminate') {
    const open = shown.checks.filter(({ id, outcome }) => outcome === 'indeterminate' && id !== 'record.proof-hash');
    return open.length === 0
      ? [paper.undecidedFile]
      : [paper.undecided, ...open.slice(0, 2).map(({ id }) => texts.checks(id))];
  }
  const place = paper.place(proof.index, String(proof.count ?? words.unknown), proof.batch);
  if (proved.before === null) return [place, paper.unstamped];
  if (development) return [place, paper.development];
  const authority = shortened(proof.stamp?.authority ?? words.unknown, 80, texts);
  const time = byDayText(proved.before, texts);
  return trust === 'operator'
    ? [place, foreign(paper.stampedByPublished(authority, time)), paper.unchangedByPublished]
    : [place, foreign(paper.stamped(authority, time)), paper.unchanged];
}

function question(shown: ShownRecord, { paper }: Texts): Markup[] {
  const found = drawnBanner(shown);
  if (found === null || typeof found === 'string') return [];
  return [
    element(
      'section',
      { class: 'asked' },
      element('h2', {}, paper.shown),
      element('p', {}, paper.shownWith),
      element('section', { class: 'frame' }, { drawing: found.drawing }),
    ),
  ];
}

function excerpt({ text }: ShownRecord, texts: Texts): Markup[] {
  if (text === null || text.source === null) return [];
  const { paper } = texts;
  // Line breaks would let a text take the height of the other texts.
  const oneLine = printableSource(text.source).replace(/\s+/g, ' ').trim();
  return [
    element(
      'section',
      { class: 'words' },
      element('h2', {}, paper.text),
      element('pre', { dir: 'auto' }, shortened(oneLine, MAX_EXCERPT, texts)),
    ),
  ];
}

/** A text of at most `max` characters, which shows where it was cut. */
function shortened(text: string, max: number, { paper }: Texts): string {
  const characters = [...text];
  return characters.length <= max ? text : `${characters.slice(0, max).join('')}${paper.shortened}`;
}
