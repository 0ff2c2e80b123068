import { Fragment } from 'react';

/** A name that a narrow column breaks after its signs alone: an e-mail address, a host, an action of the API. */
export function Breakable({ text }: { readonly text: string }) {
  const parts = text.split(/(?<=[@._/:-])/);
  return (
    <span className="whole-words">
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have a fixed order
        <Fragment key={index}>
          {index === 0 ? null : <wbr />}
          {part}
        </Fragment>
      ))}
    </span>
  );
}
