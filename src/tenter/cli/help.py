"""What --help prints of the commands with many options: examples, and the options that most runs need."""

from __future__ import annotations

#: The short help of each command fits a terminal of 80 columns and 24 lines. --help-all prints all options.
SHORT = {
    "resize": """\
  tenter resize photo.jpg small.jpg --width 800
  tenter resize photos web --fit 1600x1600 --recursive --strip
  tenter resize photos 'web/{stem}-{size}.{format}' --fit 320,640 --format webp
  tenter resize logo.png logo.jpg --scale 50% --background white
  tenter resize stack.tif half.tif --scale 1,0.5,0.5 --axes z,y,x

usage: tenter resize IN... OUT SIZE [options]

SIZE   --fit 1600x1600  at most this width and height; nothing is enlarged
       --fill 400x400   exactly this size, cut where the ratio differs
       --width 800, --height 600, --scale 50%
       --fit 320,640    several, for which OUT has names with fields
       --size 800x600   exactly this size, distorted
what   --recursive      a folder with its subfolders
       --box 640x480+10+20   a part; --frame N one of several images
       --axes z,y,x     an array, a TIFF stack or zarr, along these axes
how    --mode NAME      lanczos, cubic, linear, area, nearest, ...
       --labels         pixels are labels, which are not averaged
out    --format TYPE    webp, jpg, png, ...; --quality 80; --strip metadata
       --background white, --dry-run, --json
       --force, --skip-existing, --update   outputs that exist
All options: tenter resize --help-all
""",
    "pyramid": """\
  tenter pyramid image.ome.zarr
  tenter pyramid volume.zarr volume.ome.zarr --factor 1,2,2 --axes z,y,x
  tenter pyramid stack.tif stack.ome.zarr --voxel-size 2,0.5,0.5
  tenter pyramid cells.tif image.ome.zarr/labels/cells
  tenter pyramid volume.npy volume.ome.zarr --levels 3 --dry-run

usage: tenter pyramid IN [OUT.zarr] [options]

IN     an OME-Zarr group, which gets levels; or a zarr array, a .npy file or a
       TIFF stack, for which OUT.zarr is a new group of the array and levels
how    --mode area      means (default), or linear
       --labels [--mode area]   the label at the center, or the commonest
       --factor 2       or one per axis; by default until voxels are isotropic
       --levels N, --axes z,y,x; --names t,z,y,x, of IN if it has none
voxels --voxel-size 2,0.5,0.5 --unit micrometer   of IN, if it has none
out    --chunks 64,64,64, --force, --dry-run, --json
bounds --memory-limit 2GiB, --threads 4
All options: tenter pyramid --help-all
""",
}
