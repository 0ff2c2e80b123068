import { useEffect, useRef, useState } from 'react';
import { PREVIEW_READY, type PreviewDraft } from '../../banner-preview/preview-draft.js';
import { useMessages } from '../../i18n/locale.js';
import { SelectInput } from '../../ui/fields.js';
import { Section } from '../../ui/page.js';

/** Milliseconds without a change before the preview shows it, so that it does not flicker. */
const PAUSE_MS = 300;

const SIZES = ['desktop', 'phone'] as const;
type PreviewSize = (typeof SIZES)[number];

/** The banner of the SDK with a draft, in a frame that may run scripts and nothing else. */
export function BannerPreview({ draft }: { readonly draft: PreviewDraft }) {
  const { banner } = useMessages();
  const frame = useRef<HTMLIFrameElement>(null);
  const [isReady, setReady] = useState(false);
  const [size, setSize] = useState<PreviewSize>('desktop');
  const text = JSON.stringify(draft);
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
  return (
    <Section title={banner.preview} lead={banner.previewLead}>
      <SelectInput
        name="preview-size"
        label={banner.previewSize}
        value={size}
        onChange={(value) => setSize(value === 'phone' ? 'phone' : 'desktop')}
        options={SIZES.map((value) => ({ value, label: banner.previewSizes[value] }))}
      />
      <div className={`preview preview-${size}`}>
        <iframe
          ref={frame}
          className="preview-frame"
          sandbox="allow-scripts"
          src={`${import.meta.env.BASE_URL}banner-preview${import.meta.env.DEV ? '.html' : ''}`}
          title={banner.preview}
        />
      </div>
    </Section>
  );
}
