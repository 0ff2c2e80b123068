import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { gapsIn } from '../../../../schemas/text/gaps.js';
import type { DocumentVersion } from '../../api/types.js';
import { useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { Loaded } from '../../ui/loaded.js';
import { Markdown } from '../../ui/markdown.js';
import { Notice } from '../../ui/notice.js';
import { saveAs } from '../../ui/save-as.js';
import { ScrollBox } from '../../ui/scroll-box.js';
import { isText, useReadVersion } from './read-version.js';

interface VersionContentProps {
  readonly siteId: string;
  readonly version: DocumentVersion;
}

/** The text of a version. It runs nothing: plain text as it is, Markdown drawn, HTML in a frame without any right. */
export function VersionContent({ siteId, version }: VersionContentProps) {
  const { documents } = useMessages();
  const readVersion = useReadVersion(siteId);
  const query = useQuery({
    queryKey: ['content', version.id, version.content_sha256],
    queryFn: async () => {
      const content = await readVersion(version);
      return { content, gaps: isText(version) ? gapsIn(await content.text()) : [] };
    },
  });
  return (
    <Loaded query={query}>
      {({ content, gaps }) => (
        <>
          {version.state === 'draft' && gaps.length > 0 ? (
            <Notice kind="warning">
              <p>{documents.gaps}</p>
              <ul className="list">
                {gaps.map((gap) => (
                  <li key={gap}>{gap}</li>
                ))}
              </ul>
            </Notice>
          ) : null}
          <Content content={content} version={version} />
        </>
      )}
    </Loaded>
  );
}

interface ContentProps {
  readonly content: Blob;
  readonly version: DocumentVersion;
}

function Content({ content, version }: ContentProps) {
  const { documents, common } = useMessages();
  if (version.media_type.startsWith('text/html')) return <HtmlFrame content={content} title={version.title} />;
  if (isText(version)) return <TextBox content={content} version={version} />;
  return (
    <>
      <p>{documents.noPreview}</p>
      <Button onPress={() => saveAs(version.title, content)}>{common.download}</Button>
    </>
  );
}

function TextBox({ content, version: { language, title, media_type: mediaType } }: ContentProps) {
  const { documents } = useMessages();
  const [text, setText] = useState('');
  useEffect(() => {
    void content.text().then(setText);
  }, [content]);
  return (
    <ScrollBox
      label={documents.previewOf(title)}
      language={language}
      look={mediaType.startsWith('text/markdown') ? 'stack' : 'text'}
    >
      {mediaType.startsWith('text/markdown') ? <Markdown text={text} /> : text}
    </ScrollBox>
  );
}

/** `sandbox` without a permission: no scripts, no forms, no origin. The policy of the panel also applies. */
function HtmlFrame({ content, title }: { readonly content: Blob; readonly title: string }) {
  const { documents } = useMessages();
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([content], { type: 'text/html;charset=utf-8' }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [content]);
  return url === null ? null : (
    <iframe className="boxed-frame" sandbox="" src={url} title={documents.previewOf(title)} />
  );
}
