#!/bin/sh
# Makes the pictures of README and guides anew: docs/pictures/make.sh, in the root of the repository.
# It needs planner on the PATH with the extra [operations], matplotlib, and Debian's chromium.
set -eu
folder=$(mktemp -d)
planner solve instances/quickstart/cluster.json -o "$folder/plan.html"
planner audit instances/recorded/classical-hier.jsonl.gz instances/recorded/fair-flat.jsonl.gz \
  --fail-on never -o "$folder/audit.html"
# The script is the one that the guide on simulations shows.
sed -n '/title="week.toml"/,/^```$/p' docs/how-to/simulate.md | sed '1d;$d' > "$folder/week.toml"
planner simulate instances/quickstart/cluster.json --script "$folder/week.toml" --until 604800 \
  --fail-on never --plot docs/pictures/week.svg > "$folder/simulation.txt"
for picture in plan:1180,1280 audit:1180,960; do
  file=docs/pictures/${picture%%:*}.png
  chromium --headless --no-sandbox --hide-scrollbars --screenshot="$file" \
    --log-level=3 --window-size="${picture#*:}" "file://$folder/${picture%%:*}.html"
done
PYTHONPATH=. python docs/pictures/work.py docs/pictures/work.png
for file in docs/pictures/plan.png docs/pictures/audit.png docs/pictures/work.png; do
  # 256 colours are enough, in half of the bytes.
  python -c 'import sys; from PIL import Image; Image.open(sys.argv[1]).convert("RGB").quantize(256).save(sys.argv[1], optimize=True)' "$file"
done
rm -r "$folder"
