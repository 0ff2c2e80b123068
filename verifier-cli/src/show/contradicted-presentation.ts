import { bannerLabels } from '../../../schemas/banner/banner-labels.js';
import { labelsIn } from '../../../schemas/banner/known-labels.js';
import type { ConsentRecord } from '../../../schemas/events/consent-recorded.js';
import type { Presentation } from '../../../schemas/evidence/presentation.js';
import { answersQuestion } from '../../../schemas/law/acts.js';
import { NOTICE_VERSION } from '../../../sdk/banner/layout-version.js';
import { optOutNotice } from '../../../sdk/banner/notice.js';

/** Decisions to which each control leads; a control that is not named here may lead to any. */
const DECISIONS_OF: Readonly<Record<string, readonly ConsentRecord['decision'][]>> = {
  accept: ['accepted'],
  reject: ['rejected', 'withdrawn'],
};

/** Statements of a presentation that its own record, or the presentation itself, contradicts. */
export const PRESENTATION_CONTRADICTIONS = ['decision', 'control', 'notice'] as const;
export type PresentationContradiction = (typeof PRESENTATION_CONTRADICTIONS)[number];

/**
 * Compares how a question was stated to have been asked with the decision. Both are claims of the same party, so a
 * difference is not a failure of the evidence, but a reader must know about it.
 */
export function contradictionsOf(
  { control, controls, notice, sdk }: Pick<Presentation, 'control' | 'controls' | 'notice' | 'sdk'>,
  { consent_type: type, decision }: Pick<ConsentRecord, 'consent_type' | 'decision'>,
): readonly PresentationContradiction[] {
  // These controls answer a question, which an opt-out and an objection do not.
  const isAnswer = answersQuestion(type) && control !== undefined && Object.hasOwn(DECISIONS_OF, control);
  const allowed = isAnswer ? DECISIONS_OF[control] : undefined;
  const isOffered = control === undefined || controls === undefined || controls.includes(control);
  return [
    ...(allowed === undefined || allowed.includes(decision) ? [] : (['decision'] as const)),
    ...(isOffered ? [] : (['control'] as const)),
    ...(notice === undefined || isKnown(notice, sdk) ? [] : (['notice'] as const)),
  ];
}

/** The SDK for web pages, whose notices this program knows. It does not know those of other programs. */
const SDK_OF_PAGES = /^browser /;

function isKnown({ text, language, version }: NonNullable<Presentation['notice']>, sdk = ''): boolean {
  if (!SDK_OF_PAGES.test(sdk) || version !== NOTICE_VERSION) return true;
  const labels = bannerLabels({}, language, labelsIn(language));
  return [false, true].some((isConflict) => {
    const known = optOutNotice(labels, isConflict);
    return known.text === text && known.language === language;
  });
}
