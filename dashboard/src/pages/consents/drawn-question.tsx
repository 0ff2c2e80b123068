import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { bannerInStatedLanguage } from '../../../../schemas/banner/banner-in-language.js';
import { loadTexts } from '../../../../schemas/banner/load-texts.js';
import { matchLanguage } from '../../../../schemas/language/match-language.js';
import { styleRoot, toDom } from '../../../../sdk/banner/dom.js';
import { type Drawing, drawingOf, type StatedPresentation, tickedBy } from '../../../../sdk/banner/drawing.js';
import { appearanceOf } from '../../../../sdk/browser/src/banner/banner-view.js';
import type { PublicRecord } from '../../api/types.js';
import { useMessages } from '../../i18n/locale.js';
import { useShownConfiguration } from './use-shown-configuration.js';
import { useShownVersion } from './use-shown-version.js';

interface DrawnQuestionProps {
  readonly siteId: string;
  readonly record: PublicRecord;
  /** Slug of the document of the record, or null if it is not known. */
  readonly slug: string | null;
  /** The disclosed presentation, as the record has it. */
  readonly presentation: unknown;
}

/** The banner as it was stated to have been shown, drawn from the published words. */
export function DrawnQuestion({ siteId, record, slug, presentation }: DrawnQuestionProps) {
  const { consents } = useMessages();
  const shown = useShownConfiguration(siteId, record.site_config_hash).data;
  const text = useShownVersion(siteId, slug, record.document_version_id).data;
  const stated = useMemo(() => readStated(presentation), [presentation]);
  const statedLanguage = stated?.language ?? record.language;
  const language = matchLanguage(shown?.languages ?? [], [statedLanguage]) ?? '';
  const labels = useQuery({
    queryKey: ['labels', language],
    queryFn: async () => ({ known: (await loadTexts(language))?.labels }),
  }).data;
  const drawing = useMemo(() => {
    if (shown === null || shown === undefined || stated === null || labels === undefined) return null;
    const words = bannerInStatedLanguage(shown, { language: statedLanguage, rule: stated.rule }, () => labels.known);
    if (words === null) return null;
    // The banner of a page asks by the cookie policy, and names it.
    const isByPolicy = record.consent_type === 'cookie' || record.consent_type === 'objection';
    const policy = text !== undefined && isByPolicy ? { title: text.title, language: text.language } : null;
    const view = { ...words, appearance: appearanceOf(shown.appearance), policy };
    return drawingOf(view, stated, tickedBy(stated, record.categories), tickedBy(stated, record.services));
  }, [shown, text, record, stated, statedLanguage, labels]);
  if (drawing === null) return null;
  return (
    <div className="stack">
      <h3>{consents.drawn}</h3>
      <p className="hint">{consents.drawnText[record.channel]}</p>
      <Drawn drawing={drawing} />
    </div>
  );
}

/** A drawing in a shadow root: its style and that of the page do not change each other. */
function Drawn({ drawing }: { readonly drawing: Drawing }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const node = place.current;
    if (node === null) return;
    const root = node.shadowRoot ?? node.attachShadow({ mode: 'open' });
    root.replaceChildren(toDom(drawing.content));
    styleRoot(root, drawing.style);
  }, [drawing]);
  return <div ref={place} />;
}

/** The members that the drawing needs. The service has checked their form. */
function readStated(
  presentation: unknown,
): (StatedPresentation & { readonly language?: string; readonly rule?: string }) | null {
  return typeof presentation === 'object' && presentation !== null ? presentation : null;
}
