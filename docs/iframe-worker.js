// The search runs in a worker, and browsers start none for a page that was opened as a file. There it
// runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.inside = new Promise((ready) => {
        frame.onload = () => {
          const script = frame.contentDocument.createElement("script");
          script.src = url;
          script.onload = () => ready(frame.contentWindow);
          frame.contentWindow.postMessage = (data) => this.tell(this, data);
          frame.contentDocument.body.append(script);
        };
      });
      document.documentElement.append(frame);
    }

    tell(target, data) {
      target.dispatchEvent(new MessageEvent("message", { data }));
    }

    postMessage(data) {
      this.inside.then((inside) => this.tell(inside, data));
    }
  };
}
