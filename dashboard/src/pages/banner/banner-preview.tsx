import { useEffect, useId, useRef, useState } from 'react';
import { PREVIEW_READY, type PreviewDraft } from '../../banner-preview/preview-draft.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { SelectInput } from '../../ui/fields.js';

/** Milliseconds without a change before the preview shows it, so that it does not flicker. */
const PAUSE_MS = 300;

/** A window in which that of a desktop would be too small to read. */
const NARROW = '(max-width: 46rem)';
const SIZES = ['desktop', 'phone'] as const;
const SCHEMES = ['light', 'dark'] as const;

interface BannerPreviewProps {
  readonly draft: PreviewDraft;
  /** The languages to choose from; none: that of the draft is shown. */
  readonly languages?: readonly string[];
  readonly onLanguage?: (language: string) => void;
  /** Whether `draft` has what is typed before it is saved. */
  readonly showsUnsaved?: boolean;
}

/**
 * The banner of the SDK with a draft, in a frame that may run scripts and nothing else. On a phone it is folded up at the
 * foot of the window, and one press opens it.
 */
export function BannerPreview({ draft, languages = [], onLanguage, showsUnsaved = true }: BannerPreviewProps) {
  const { banner } = useMessages();
  const { languageName } = useFormats();
  const id = useId();
  const frame = useRef<HTMLIFrameElement>(null);
  const [isReady, setReady] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const [size, setSize] = useState<(typeof SIZES)[number]>(() => (matchMedia(NARROW).matches ? 'phone' : 'desktop'));
  const [scheme, setScheme] = useState<(typeof SCHEMES)[number]>('light');
  const text = JSON.stringify({ ...draft, scheme });
  useEffect(() => {
    const listen = ({ source, data }: MessageEvent<unknown>) => {
      if (source === frame.current?.contentWindow && data === PREVIEW_READY) setReady(true);
    };
    window.addEventListener('message', listen);
    return () => window.removeEventListener('message', listen);
  }, []);
  useEffect(() => {
    if (!isReady) return;
    // The frame has an opaque origin, so it cannot be addressed by origin. The draft is not secret.
    const timer = setTimeout(() => frame.current?.contentWindow?.postMessage(JSON.parse(text), '*'), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [isReady, text]);
  const hasSchemes = draft.appearance === undefined || draft.appearance.scheme === 'auto';
  return (
    <section className={`card preview-card${isOpen ? ' preview-open' : ''}`}>
      <h2>{banner.preview}</h2>
      <button
        type="button"
        className="button preview-toggle"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? banner.closePreview : banner.openPreview}
      </button>
      <div id={id} className="preview-content">
        <div className="preview-choices">
          <SelectInput
            name="preview-size"
            label={banner.previewSize}
            value={size}
            onChange={(value) => setSize(value === 'phone' ? 'phone' : 'desktop')}
            options={SIZES.map((value) => ({ value, label: banner.previewSizes[value] }))}
          />
          {hasSchemes ? (
            <SelectInput
              name="preview-scheme"
              label={banner.previewScheme}
              value={scheme}
              onChange={(value) => setScheme(value === 'dark' ? 'dark' : 'light')}
              options={SCHEMES.map((value) => ({ value, label: banner.previewSchemes[value] }))}
            />
          ) : null}
          {languages.length > 1 ? (
            <SelectInput
              name="preview-language"
              label={banner.previewLanguage}
              value={draft.language}
              onChange={(value) => onLanguage?.(value)}
              options={languages.map((value) => ({ value, label: languageName(value) }))}
            />
          ) : null}
        </div>
        <div className={`preview preview-${size}`}>
          <iframe
            ref={frame}
            className="preview-frame"
            sandbox="allow-scripts"
            src={`${import.meta.env.BASE_URL}banner-preview${import.meta.env.DEV ? '.html' : ''}`}
            title={banner.preview}
          />
        </div>
        <p className="hint">{showsUnsaved ? banner.previewLead : banner.previewSaved}</p>
      </div>
    </section>
  );
}
