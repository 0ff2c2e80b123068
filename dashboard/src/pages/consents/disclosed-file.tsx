import { useEffect, useState } from 'react';
import type { Attachment } from '../../api/types.js';
import { useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { saveAs } from '../../ui/save-as.js';
import { ScrollBox } from '../../ui/scroll-box.js';

interface DisclosedFileProps {
  /** The value of the field. */
  readonly content: string;
  readonly attachment: Attachment;
  readonly label: string;
}

/** A signature or a document that a person gave. Pictures and texts are shown; other files can be saved. */
export function DisclosedFile({ content, attachment: { encoding, media_type }, label }: DisclosedFileProps) {
  const { common } = useMessages();
  if (encoding === 'utf-8') return <ScrollBox label={label}>{content}</ScrollBox>;
  // The service compared the content of a picture with its type.
  if (media_type.startsWith('image/')) return <Picture base64={content} mediaType={media_type} label={label} />;
  return (
    <Button onPress={() => saveAs(label, blobOf(content, media_type))}>
      {common.download} ({media_type})
    </Button>
  );
}

interface PictureProps {
  readonly base64: string;
  readonly mediaType: string;
  readonly label: string;
}

function Picture({ base64, mediaType, label }: PictureProps) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(blobOf(base64, mediaType));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [base64, mediaType]);
  return url === null ? null : <img className="disclosed-picture" src={url} alt={label} />;
}

function blobOf(base64: string, type: string): Blob {
  return new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], { type });
}
