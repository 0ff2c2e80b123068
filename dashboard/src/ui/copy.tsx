import { useState } from 'react';
import { useMessages } from '../i18n/locale.js';
import { Button } from './button.js';

interface CopyProps {
  readonly text: string;
  /** Name of the copied text, for screen readers. */
  readonly label: string;
}

/** A text, and a button that copies it. */
export function Copyable({ text, label }: CopyProps) {
  return (
    <div className="copyable">
      <pre className="code">{text}</pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}

export function CopyButton({ text, label }: CopyProps) {
  const { common } = useMessages();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <>
      <Button onPress={copy} aria-label={`${common.copy}: ${label}`}>
        {isCopied ? common.copied : common.copy}
      </Button>
      <span role="status" className="for-readers">
        {isCopied ? common.copied : ''}
      </span>
    </>
  );
}
